/** Decides from the failure of a watch or list what the next attempt does. */

import { ClientError } from '@hangar/client';
import type { ApiObject } from '@hangar/client';
import { hasCode } from '@hangar/core';

/** The server was not reached, or rejected the client: the requested version may still be valid. */
const unasked: ReadonlySet<unknown> = new Set([
  'ConnectionFailed',
  'CredentialsFailed',
  'Unauthorized',
  'Forbidden',
  'TooManyRequests',
]);

/** Transient, unless it repeats: then the version may be the cause. */
const passing: ReadonlySet<unknown> = new Set([
  'ConnectionLost',
  'TimedOut',
  'ServiceUnavailable',
  'InternalError',
  'ServerTimeout',
]);

/** Consecutive failures after which the version is taken for the cause. */
const resumesMax = 5;

/** Reports whether a watch may resume from its version. Otherwise all objects are listed again. */
export function mayResume(error: Error, failures: number): boolean {
  const { code } = error as { code?: unknown };
  return unasked.has(code) || (passing.has(code) && failures < resumesMax);
}

/**
 * Reports whether the server does not support WatchList: it refuses, or handles it as a watch and never sends the bookmark after the
 * initial events. Older servers and some extension servers do that.
 */
export const isUnsupported = (error: unknown): boolean =>
  ['Invalid', 'BadRequest', 'MethodNotAllowed', 'TimedOut'].some((code) => hasCode(error, code));

/** The cluster answers, but does not serve this kind or does not allow reads of it. Waiting does not help for now. */
const unavailable: ReadonlySet<unknown> = new Set(['NotFound', 'UnknownKind', 'MethodNotAllowed', 'Forbidden']);

export const isUnavailable = (error: Error | undefined): boolean =>
  unavailable.has((error as { code?: unknown } | undefined)?.code);

/** Throws `MalformedAnswer` for an object without a name or version: it cannot be stored, and a watch cannot resume from it. */
export function insistOnObject({ metadata }: ApiObject): void {
  if (metadata?.name && metadata.resourceVersion) return;
  throw new ClientError('MalformedAnswer', 'received an object without a name or a resourceVersion');
}
