/** Converts the return value or error of a reconcile to an outcome. */

import { asError, AssertionFailed } from '@hangar/core';
import type { DropReason } from './controller-metrics.ts';
import type { Result } from './reconcile.ts';

export interface Failure {
  readonly error: Error;
  readonly isTerminal: boolean;
  /** A defect of the code, not of its environment. */
  readonly isPanic: boolean;
  /** Caused by the state of the cluster: not reported as an error. */
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

/** An error may be wrapped: the first known code counts. */
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
 * Failures that would be a panic in Go: thrown non-errors, access to undefined, broken invariants. A TypeError with a cause is a network
 * failure of `fetch`.
 */
const isPanic = (thrown: unknown): boolean =>
  !(thrown instanceof Error) ||
  (thrown instanceof TypeError && thrown.cause === undefined) ||
  thrown instanceof ReferenceError ||
  thrown instanceof RangeError ||
  thrown instanceof AssertionFailed;

export const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';

/** A value that is not a result means done. */
export const asResult = (value: unknown): Result => (typeof value === 'object' && value !== null ? value : {});
