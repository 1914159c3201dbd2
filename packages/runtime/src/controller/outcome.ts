/** What a reconcile came to, out of whatever it returned or threw. */

import { asError, AssertionFailed } from '@hangar/core';
import type { DropReason } from './controller-metrics.ts';
import type { Result } from './reconcile.ts';

export interface Failure {
  readonly error: Error;
  readonly isTerminal: boolean;
  /** A defect of the code rather than of the world. */
  readonly isPanic: boolean;
  /** The cluster is the reason: nothing to report. */
  readonly drop: DropReason | undefined;
  /** A concurrent change is the usual cause, and a retry the remedy: see `raceCodes`. */
  readonly isRace: boolean;
}

/**
 * Codes of failures that concurrent changes cause in normal operation: another writer created, changed or deleted the object, or
 * discovery does not yet serve a new definition.
 */
const raceCodes: ReadonlySet<unknown> = new Set(['Conflict', 'NotFound', 'AlreadyExists', 'UnknownKind']);

/** Classifies a thrown value. Never throws, even if the value is a proxy or has getters that throw. */
export function failureOf(thrown: unknown): Failure {
  try {
    const error = asError(thrown);
    const code = codeThatDecides(error);
    const isTerminal = code === 'Terminal';
    const isRace = !isTerminal && raceCodes.has((error as { code?: unknown }).code);
    return { error, isTerminal, isPanic: isPanic(thrown), drop: isTerminal ? undefined : code, isRace };
  } catch {
    const error = new Error('the reconciler threw a value that cannot be inspected');
    return { error, isTerminal: false, isPanic: true, drop: undefined, isRace: false };
  }
}

const causesMax = 16;

/** An error may be wrapped: the first that says something counts. */
function codeThatDecides(error: Error): 'Terminal' | DropReason | undefined {
  let cause: unknown = error;
  for (let depth = 0; depth < causesMax && cause instanceof Error; depth++) {
    const { code } = cause as { code?: unknown };
    if (code === 'Terminal' || code === 'ClusterNotFound' || code === 'ClusterNotOwned' || code === 'Fenced')
      return code;
    cause = cause.cause;
  }
  return undefined;
}

/**
 * What Go would panic about: things of no use as an error, reading from nothing, broken invariants. A TypeError with a cause is how
 * `fetch` says that the network failed.
 */
const isPanic = (thrown: unknown): boolean =>
  !(thrown instanceof Error) ||
  (thrown instanceof TypeError && thrown.cause === undefined) ||
  thrown instanceof ReferenceError ||
  thrown instanceof RangeError ||
  thrown instanceof AssertionFailed;

export const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';

/** What is no result is none: done. */
export const asResult = (value: unknown): Result => (typeof value === 'object' && value !== null ? value : {});
