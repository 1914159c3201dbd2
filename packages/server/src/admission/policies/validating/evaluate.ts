/** Evaluates one policy with one parameter for one request. */

import type { StatusReason } from '@hangar/api';
import type { CelBindings } from '@hangar/cel';
import type { RequestWork } from '../../expressions/request-work.ts';
import { Activation, Budget, policyCostLimit } from '../activation.ts';
import type { Limits, Outcome } from '../activation.ts';
import { conditionsHold } from '../match-conditions.ts';
import { PolicyProblem } from '../problem.ts';
import { joinedValues } from '../values.ts';
import type { ValidatingPolicy, Validation } from './policy.ts';

export interface Denial {
  /** Index of the validation in the policy. */
  readonly index: number;
  readonly message: string;
  readonly reason: StatusReason;
}

export interface Verdict {
  readonly denials: readonly Denial[];
  /** Audit annotations. */
  readonly annotations: readonly (readonly [key: string, value: string])[];
  /** Errors in audit annotations deny the request, regardless of the actions of the binding. */
  readonly annotationErrors: readonly string[];
}

export interface Values {
  /** Values for `matchConditions`, which do not include the namespace. */
  readonly conditions: CelBindings;
  readonly all: CelBindings;
  readonly authorizer: CelBindings;
  readonly work: RequestWork;
}

const nothing: Verdict = { denials: [], annotations: [], annotationErrors: [] };

export async function evaluatePolicy(policy: ValidatingPolicy, isStrict: boolean, values: Values): Promise<Verdict> {
  try {
    const conditionValues = joinedValues(values.conditions, values.authorizer);
    if (!(await conditionsHold(policy.conditions, conditionValues, values.work))) return nothing;
    const denials = await validate(policy, isStrict, values);
    return { ...nothing, denials, ...(await annotate(policy, isStrict, values)) };
  } catch (error) {
    if (!(error instanceof PolicyProblem)) throw error;
    return isStrict ? { ...nothing, denials: [{ index: 0, message: error.message, reason: 'Invalid' }] } : nothing;
  }
}

async function validate(policy: ValidatingPolicy, isStrict: boolean, values: Values): Promise<Denial[]> {
  const limits: Limits = { budget: new Budget(policyCostLimit), work: values.work };
  const activation = new Activation(joinedValues(values.all, values.authorizer), policy.variables, limits);
  const outcomes: Outcome[] = [];
  for (const { expression } of policy.validations) outcomes.push(await activation.evaluate(expression));
  if (outcomes.every((one) => one.error === undefined && one.value === true)) return [];
  const messages = await evaluateMessages(policy, new Activation(values.all, policy.variables, limits));
  return policy.validations.flatMap((validation, index): Denial[] => {
    const outcome = outcomes[index]!;
    const fails = (message: string): Denial[] => (isStrict ? [{ index, message, reason: 'Invalid' }] : []);
    if (outcome.error !== undefined) return fails(outcome.error);
    if (messages instanceof PolicyProblem) return fails(`failed messageExpression: ${messages.message}`);
    if (outcome.value === true) return [];
    return [{ index, message: messageOf(validation, messages[index]), reason: validation.reason }];
  });
}

/** Uses the budget that the validations left. */
async function evaluateMessages(
  { validations }: ValidatingPolicy,
  activation: Activation,
): Promise<readonly (Outcome | undefined)[] | PolicyProblem> {
  const messages: (Outcome | undefined)[] = [];
  try {
    for (const { messageExpression: one } of validations) messages.push(one && (await activation.evaluate(one)));
  } catch (error) {
    if (error instanceof PolicyProblem) return error;
    throw error;
  }
  return messages;
}

const messageBytesMax = 5 * 1024;

function messageOf({ message, expression }: Validation, outcome: Outcome | undefined): string {
  const made = outcome?.error === undefined && typeof outcome?.value === 'string' ? outcome.value.trim() : '';
  const isUsable = made !== '' && Buffer.byteLength(made) <= messageBytesMax && !made.includes('\n');
  return (isUsable ? made : message.trim()) || `failed expression: ${expression.text.trim()}`;
}

async function annotate(
  policy: ValidatingPolicy,
  isStrict: boolean,
  { all, work }: Values,
): Promise<Pick<Verdict, 'annotations' | 'annotationErrors'>> {
  const activation = new Activation(all, policy.variables, { budget: new Budget(policyCostLimit), work });
  const annotations: [string, string][] = [];
  const annotationErrors: string[] = [];
  for (const { key, expression } of policy.annotations) {
    const outcome = await activation.evaluate(expression);
    if (outcome.error !== undefined) {
      if (isStrict) annotationErrors.push(outcome.error);
    } else if (typeof outcome.value === 'string' && outcome.value.trim() !== '') {
      annotations.push([key, outcome.value.trim()]);
    }
  }
  return { annotations, annotationErrors };
}
