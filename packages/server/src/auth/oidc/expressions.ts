/** Expressions over the claims of a token, and over the resulting user. */

import {
  compile,
  dynType,
  isDyn,
  kubernetesEnvironment,
  listOf,
  mapOf,
  perCallCostLimit,
  stringType,
  toJson,
} from '@hangar/cel';
import type { Environment, Program, Type } from '@hangar/cel';

export interface Expression {
  readonly text: string;
  /** Returns JSON. Throws if the evaluation fails. */
  evaluate(value: unknown): unknown;
}

let claims: Environment | undefined;
let user: Environment | undefined;

const userType: Type = {
  kind: 'object',
  name: 'kubernetes.UserInfo',
  fields: new Map([
    ['username', { type: stringType }],
    ['uid', { type: stringType }],
    ['groups', { type: listOf(stringType) }],
    ['extra', { type: mapOf(stringType, listOf(stringType)) }],
  ]),
};

/** Throws if the expression does not compile or cannot have one of these types. */
export const claimExpression = (text: string, kinds: readonly string[]): Expression =>
  expression(text, (claims ??= kubernetesEnvironment({ claims: mapOf(stringType, dynType) })), 'claims', kinds);

export const userExpression = (text: string, kinds: readonly string[]): Expression =>
  expression(text, (user ??= kubernetesEnvironment({ user: userType })), 'user', kinds);

function expression(text: string, environment: Environment, variable: string, kinds: readonly string[]): Expression {
  const program: Program = compile(text, environment);
  const type = program.outputType;
  if (!isDyn(type) && !kinds.includes(type.kind)) {
    throw new Error(`must be of type ${kinds.join(' or ')}, not ${type.kind}`);
  }
  return {
    text,
    evaluate: (value) => toJson(program.evaluate({ [variable]: value }, { costLimit: perCallCostLimit }).value),
  };
}
