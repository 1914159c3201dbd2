/**
 * Runs a synchronous computation that compiles expressions in slices, so that other requests run in between. When a slice
 * is over, the computation is abandoned and repeated from its start after a rest; expressions that were compiled before
 * are not compiled again. A validation of a thousand rules thus walks over its object a few dozen times.
 *
 *     inSlices(clock, () => definition.rules.map((rule) => once((budget) => compile(rule, environment, { budget }))));
 */

import type { Clock } from '@hangar/core';
import { compilationMsMax, restAfterMs } from './limits.ts';
import { WorkBudget } from './work.ts';

export { WorkBudget };

class Session {
  readonly budget = new WorkBudget({ totalMs: compilationMsMax });
  readonly results: unknown[] = [];
  /** Index of the next result in the current attempt. */
  next = 0;
}

/** Thrown through a computation whose slice is over. */
const sliceOver = Symbol('the slice is over');
let session: Session | undefined;

/** Returns the result of `compute`, as a promise if it takes more than one slice. Each attempt must do the same. */
export function inSlices<Result>(clock: Clock, compute: () => Result): Result | Promise<Result> {
  const own = new Session();
  const attempt = (): Result | Promise<Result> => {
    const outer = session;
    session = own;
    own.next = 0;
    try {
      return compute();
    } catch (thrown) {
      if (thrown !== sliceOver) throw thrown;
    } finally {
      session = outer;
    }
    return Promise.resolve(own.budget.rest(clock)).then(attempt);
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
  const at = current.next++;
  if (at < current.results.length) return current.results[at] as Result;
  const result = compute(nextInSlice());
  current.results.push(result);
  return result;
}
