/**
 * The budget of processor time and memory that all expressions of one request share: rules of custom resources, policies,
 * match conditions, variables and messages, in every attempt to make the write.
 */

import { WorkBudget } from '@hangar/cel/work';
import type { Clock } from '@hangar/core';
import type { AdmissionRequest } from '../admission.ts';

const budgets = new WeakMap<object, WorkBudget>();

/** `attemptOf`: the same object for every attempt to make one write. */
export function budgetOf(attemptOf: object): WorkBudget {
  let budget = budgets.get(attemptOf);
  if (budget === undefined) budgets.set(attemptOf, (budget = new WorkBudget()));
  return budget;
}

/** Lets other requests run when expressions of this one have run for a while. Undefined: no need to wait. */
export const restOf = (attemptOf: object, clock: Clock): Promise<void> | undefined =>
  budgets.get(attemptOf)?.rest(clock);

/** What an evaluation needs to know of its request. */
export interface RequestWork {
  readonly budget: WorkBudget;
  readonly clock: Clock;
}

export const workOf = ({ attemptOf, plane }: Pick<AdmissionRequest, 'attemptOf' | 'plane'>): RequestWork => ({
  budget: budgetOf(attemptOf),
  clock: plane.clock,
});
