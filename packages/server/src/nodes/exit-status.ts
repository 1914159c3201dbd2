/** Result of a remote command, from the message on the error stream of a kubelet, as kube-apiserver sends it to clients. */

import { internalError } from '@hangar/api';

interface RemoteStatus {
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: { readonly causes?: readonly { readonly reason?: string; readonly message?: string }[] };
}

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
  let remote: RemoteStatus;
  try {
    remote = JSON.parse(message) as RemoteStatus;
  } catch (error) {
    return failure(`error stream protocol error: ${(error as Error).message} in ${JSON.stringify(message)}`);
  }
  const { status, reason, details } = remote;
  if (status === 'Success') return success;
  if (status !== 'Failure') return failure('error stream protocol error: unknown error');
  if (reason !== 'NonZeroExitCode') return failure(remote.message ?? '');
  if (!details) return failure('error stream protocol error: details must be set');
  const code = details.causes?.find((one) => one.reason === 'ExitCode')?.message;
  if (code === undefined) return failure('error stream protocol error: no ExitCode cause given');
  if (!/^\d{1,3}$/.test(code))
    return failure(`error stream protocol error: invalid exit code value ${JSON.stringify(code)}`);
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: command terminated with exit code ${Number(code)}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(Number(code)) }] },
  };
}
