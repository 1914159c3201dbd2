/** Converts the denial of a webhook to the error for the client, with the name of the webhook and its valid details. */

import { isObject, StatusError } from '@hangar/api';
import type { Status, StatusCause, StatusDetails } from '@hangar/api';

/** `result` is untrusted: it can have any shape. */
export function denied(name: string, result: Partial<Status> | undefined): StatusError {
  const by = `admission webhook ${JSON.stringify(name)} denied the request`;
  const { message, reason, code, details } = result ?? {};
  const why = textOf(message) || textOf(reason);
  return new DeniedError(why === '' ? `${by} without explanation` : `${by}: ${why}`, {
    ...(textOf(reason) === '' ? {} : { reason: reason! }),
    ...(isObject(details) ? { details: detailsOf(details) } : {}),
    code: isRefusal(code) ? code : 400,
  });
}

/** Reason and code come from the webhook, or are absent. */
class DeniedError extends StatusError {
  override readonly status: Status;

  constructor(message: string, rest: Pick<Status, 'reason' | 'details' | 'code'>) {
    super('Forbidden', message);
    this.status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, ...rest };
  }
}

const isRefusal = (code: unknown): code is number =>
  typeof code === 'number' && Number.isInteger(code) && code >= 400 && code < 600;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Keeps only fields of the right type, so that all response formats can encode them. */
function detailsOf(given: object): StatusDetails {
  const { causes, retryAfterSeconds, ...others } = given as Record<string, unknown>;
  return {
    ...textsOf(others, ['name', 'group', 'kind', 'uid']),
    ...(Array.isArray(causes) ? { causes: causes.filter(isObject).map(causeOf) } : {}),
    ...(isSeconds(retryAfterSeconds) ? { retryAfterSeconds } : {}),
  };
}

const causeOf = (cause: Record<string, unknown>): StatusCause => textsOf(cause, ['reason', 'message', 'field']);

const isSeconds = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 31;

const textsOf = (of: Record<string, unknown>, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => (typeof of[name] === 'string' && of[name] !== '' ? [[name, of[name]]] : [])),
  ) as Record<string, string>;
