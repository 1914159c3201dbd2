/** Result of a remote command, from the message on the error stream of a kubelet, as kube-apiserver sends it to clients. */

import { internalError, isObject } from '@hangar/api';
import type { JsonObject } from '@hangar/api';

const success = { metadata: {}, status: 'Success' };
/** Status of an error of this server. A Status on the error channel has no kind. */
export const failure = (text: string): object => {
  const { metadata, status, message, reason, details, code } = internalError(new Error(text)).status;
  return { metadata, status, message, reason, details, code };
};

/** `isStatus`: the message is a Status (protocol v4), otherwise plain text. */
export function exitStatus(message: string, isStatus: boolean): object {
  if (message === '') return success;
  if (!isStatus) return failure(`error executing remote command: ${message}`);
  let remote: unknown;
  try {
    remote = JSON.parse(message);
  } catch (error) {
    return failure(`error stream protocol error: ${(error as Error).message} in ${JSON.stringify(message)}`);
  }
  const { status, reason, details, message: text } = objectOf(remote);
  if (status === 'Success') return success;
  if (status !== 'Failure') return failure('error stream protocol error: unknown error');
  if (reason !== 'NonZeroExitCode') return failure(typeof text === 'string' ? text : '');
  if (!details) return failure('error stream protocol error: details must be set');
  const { causes } = objectOf(details);
  const code = (Array.isArray(causes) ? causes : []).map(objectOf).find((one) => one['reason'] === 'ExitCode')?.[
    'message'
  ];
  if (code === undefined) return failure('error stream protocol error: no ExitCode cause given');
  if (typeof code !== 'string' || !/^\d{1,3}$/.test(code))
    return failure(`error stream protocol error: invalid exit code value ${JSON.stringify(code)}`);
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: command terminated with exit code ${Number(code)}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(Number(code)) }] },
  };
}

/** The kubelet can send any JSON. */
const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});
