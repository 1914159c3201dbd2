/** Evaluates `matchConditions`: a false condition exempts the request, even if other conditions fail. */

import type { CelBindings } from '@hangar/cel';
import type { RequestWork } from '../expressions/request-work.ts';
import { aggregate } from '../refusal.ts';
import { Activation, Budget, conditionsCostLimit } from './activation.ts';
import type { Expression } from './expression.ts';
import { PolicyProblem } from './problem.ts';

export interface Conditions {
  readonly expressions: readonly Expression[];
  readonly variables: ReadonlyMap<string, Expression>;
  /** True: errors are failures of the policy. False: errors exempt the request. */
  readonly isStrict: boolean;
}

/** Rejects with PolicyProblem if the result is unknown. */
export async function conditionsHold(conditions: Conditions, values: CelBindings, work: RequestWork): Promise<boolean> {
  const { expressions, variables, isStrict } = conditions;
  if (expressions.length === 0) return true;
  const activation = new Activation(values, variables, { budget: new Budget(conditionsCostLimit), work });
  const errors: string[] = [];
  let isExempt = false;
  try {
    for (const expression of expressions) {
      const outcome = await activation.evaluate(expression);
      if (outcome.error !== undefined) errors.push(outcome.error);
      else if (outcome.value === false) isExempt = true;
    }
  } catch (error) {
    // When the budget is exhausted, no result counts, not even a false condition.
    if (!(error instanceof PolicyProblem) || isStrict) throw error;
    return false;
  }
  if (isExempt) return false;
  if (errors.length === 0) return true;
  if (!isStrict) return false;
  throw new PolicyProblem(aggregate(errors));
}
