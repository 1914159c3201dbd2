/** What a failed watch or list means for the next attempt. */

import { ClientError } from '@hangar/client';
import type { ApiObject } from '@hangar/client';
import { hasCode } from '@hangar/core';

/** The server was not reached, or did not let anybody in: nothing is wrong with the version that was asked for. */
const unasked: ReadonlySet<unknown> = new Set([
  'ConnectionFailed',
  'CredentialsFailed',
  'Unauthorized',
  'Forbidden',
  'TooManyRequests',
]);

/** Passes by itself, unless it comes again and again: then it may be the version. */
const passing: ReadonlySet<unknown> = new Set([
  'ConnectionLost',
  'TimedOut',
  'ServiceUnavailable',
  'InternalError',
  'ServerTimeout',
]);

/** Failures in a row after which it is taken for the version's fault. */
const resumesMax = 5;

/** Whether a watch may go on where it was. After everything else all is asked for again. */
export function mayResume(error: Error, failures: number): boolean {
  const { code } = error as { code?: unknown };
  return unasked.has(code) || (passing.has(code) && failures < resumesMax);
}

/**
 * The server does not know WatchList: it refuses, or takes it for a watch and never says that it told everything. Older ones and
 * some extension servers do.
 */
export const isUnsupported = (error: unknown): boolean =>
  ['Invalid', 'BadRequest', 'MethodNotAllowed', 'TimedOut'].some((code) => hasCode(error, code));

/** The cluster answers, but not about this kind: it has none, or does not let it be read. Waiting is of no use for now. */
const unavailable: ReadonlySet<unknown> = new Set(['NotFound', 'UnknownKind', 'MethodNotAllowed', 'Forbidden']);

export const isUnavailable = (error: Error | undefined): boolean =>
  unavailable.has((error as { code?: unknown } | undefined)?.code);

/** Throws `MalformedAnswer` for what has no name or version: it could neither be kept nor gone on from. */
export function insistOnObject({ metadata }: ApiObject): void {
  if (metadata?.name && metadata.resourceVersion) return;
  throw new ClientError('MalformedAnswer', 'received an object without a name or a resourceVersion');
}
