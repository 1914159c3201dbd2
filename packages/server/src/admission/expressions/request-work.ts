/**
 * The budget of CPU time and memory shared by all expressions of one request: rules of custom resources, policies, match conditions,
 * variables and messages, in every attempt of the write.
 */

import { WorkBudget } from '@hangar/cel/work';
import type { Clock, HistogramSeries } from '@hangar/core';
import type { AdmissionRequest } from '../admission.ts';

const budgets = new WeakMap<object, WorkBudget>();

/** `attemptOf` is the same object for all attempts of one write. */
export function budgetOf(attemptOf: object): WorkBudget {
  let budget = budgets.get(attemptOf);
  if (budget === undefined) budgets.set(attemptOf, (budget = new WorkBudget()));
  return budget;
}

/** Lets other requests run after expressions of this request have run for a while. Returns undefined if no wait is needed. */
export const restOf = (attemptOf: object, clock: Clock): Promise<void> | undefined =>
  budgets.get(attemptOf)?.rest(clock);

/** Parts of a request that evaluations need. */
export interface RequestWork {
  readonly budget: WorkBudget;
  readonly clock: Clock;
  /** Durations of evaluations. Absent: not measured. */
  readonly evaluation?: HistogramSeries;
}

export const workOf = ({ attemptOf, plane }: Pick<AdmissionRequest, 'attemptOf' | 'plane'>): RequestWork => ({
  budget: budgetOf(attemptOf),
  clock: plane.clock,
  evaluation: plane.metrics.expressions.evaluation,
});
