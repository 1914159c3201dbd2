/**
 * Runs a synchronous computation in slices, so that other requests run in between. When a slice is over, the computation is
 * abandoned and repeated from its start after a rest; parts that were computed before are not computed again. A validation
 * of a thousand rules thus walks over its object a few dozen times.
 *
 *     inSlices(clock, () => definition.rules.map((rule) => once((budget) => compile(rule, environment, { budget }))));
 *
 * Parts may have parts: `once` within `once`. The results of inner parts are dropped when the outer part is complete.
 */

import type { Clock } from '@hangar/core';
import { CelError } from './errors.ts';
import { compilationMsMax, computationMsMax, restAfterMs } from './limits.ts';
import { threadCpuMs, WorkBudget } from './work.ts';

export { CelError, WorkBudget };

export interface SliceLimits {
  /** CPU time of all slices together. */
  readonly totalMs?: number;
  /** CPU time of the thread, for tests. */
  readonly cpuMs?: () => number;
}

class Session {
  readonly budget = new WorkBudget({ totalMs: compilationMsMax });
  readonly results: unknown[] = [];
  readonly clock: Clock;
  readonly #totalMs: number;
  readonly #cpuMs: () => number;
  /** Index of the next result in the current attempt. */
  next = 0;
  /** The current attempt has completed a part. */
  hasProgress = false;
  /** When the current attempt began its first new part; -1: not yet. Known parts are repeated in no time. */
  #sinceMs = -1;
  /** CPU time then; not read in the first attempt, which most computations complete. */
  #cpuSinceMs = 0;
  #attempts = 0;
  #spentMs = 0;

  constructor(clock: Clock, { totalMs = computationMsMax, cpuMs = threadCpuMs }: SliceLimits) {
    this.clock = clock;
    this.#totalMs = totalMs;
    this.#cpuMs = cpuMs;
  }

  run<Result>(compute: () => Result): Result {
    const startMs = this.#attempts++ === 0 ? 0 : this.#cpuMs();
    this.next = 0;
    this.hasProgress = false;
    this.#sinceMs = -1;
    try {
      return compute();
    } finally {
      // The first attempt is one slice: most computations have no other, and read no clock here.
      this.#spentMs += this.#attempts === 1 ? restAfterMs : this.#cpuMs() - startMs;
    }
  }

  /** Throws when the slice is over. An attempt completes at least one part. */
  endSlice(): void {
    if (this.budget.sliceSpentMs >= restAfterMs) throw sliceOver;
    const nowMs = this.clock.monotonicMs();
    if (this.#sinceMs === -1) {
      this.#sinceMs = nowMs;
      if (this.#attempts > 1) this.#cpuSinceMs = this.#cpuMs();
    }
    if (!this.hasProgress || nowMs - this.#sinceMs < restAfterMs) return;
    // On a busy machine other processes may have taken the time: the fewer attempts, the less is repeated.
    if (this.#attempts > 1 && this.#cpuMs() - this.#cpuSinceMs < restAfterMs) {
      this.#sinceMs = nowMs;
      return;
    }
    throw this.#spentMs < this.#totalMs ? sliceOver : exhausted(this.#totalMs);
  }
}

const exhausted = (totalMs: number): CelError =>
  new CelError('Interrupted', `operation interrupted: the request takes more than ${totalMs} ms of CPU time`);

/** Thrown through a computation whose slice is over. */
const sliceOver = Symbol('the slice is over');
/** Stands for the result of a part that is not complete. */
const incomplete = Symbol('incomplete');
let session: Session | undefined;

/** For code that handles all errors: this one must be thrown again. */
export const isSliceOver = (thrown: unknown): boolean => thrown === sliceOver;

/**
 * Returns the result of `compute`, as a promise if it takes more than one slice. Each attempt must do the same. Throws
 * `CelError` with code `Interrupted` when all attempts together take too long.
 */
export function inSlices<Result>(
  clock: Clock,
  compute: () => Result,
  limits: SliceLimits = {},
): Result | Promise<Result> {
  const own = new Session(clock, limits);
  const attempt = (): Result | Promise<Result> => {
    const outer = session;
    session = own;
    try {
      return own.run(compute);
    } catch (thrown) {
      if (thrown !== sliceOver) throw thrown;
    } finally {
      session = outer;
    }
    return own.budget.restNow(clock).then(attempt);
  };
  return attempt();
}

/** Ends the slice if its time is used up; else returns the budget. For computations that keep their results themselves. */
export function nextInSlice(): WorkBudget | undefined {
  if (session === undefined) return undefined;
  if (session.budget.sliceSpentMs >= restAfterMs) throw sliceOver;
  return session.budget;
}

/**
 * Ends the slice after an interrupted compilation: the computation is repeated after a rest. Returns if the budget is
 * exhausted, and outside of a computation in slices. The caller must limit how often it repeats one compilation.
 */
export function retryInSlice(): void {
  if (session !== undefined && !session.budget.isExhausted) throw sliceOver;
}

/** Returns the result of `compute`, computed once for all attempts. Calls are identified by their order. */
export function once<Result>(compute: (budget: WorkBudget | undefined) => Result): Result {
  const current = session;
  if (current === undefined) return compute(undefined);
  const { results } = current;
  const at = current.next++;
  if (at < results.length && results[at] !== incomplete) return results[at] as Result;
  current.endSlice();
  if (at === results.length) results.push(incomplete);
  const result = compute(current.budget);
  results.length = at;
  results.push(result);
  current.next = at + 1;
  current.hasProgress = true;
  return result;
}
