/** A compiled ValidatingAdmissionPolicy. */

import type { StatusReason } from '@hangar/api';
import type { Clock } from '@hangar/core';
import { PolicyCompiler } from '../expression.ts';
import type { Expression } from '../expression.ts';
import type { Conditions } from '../match-conditions.ts';
import type { PolicySpec } from '../spec.ts';

export interface Validation {
  readonly expression: Expression;
  readonly message: string;
  readonly messageExpression: Expression | undefined;
  readonly reason: StatusReason;
}

export interface AuditAnnotation {
  readonly key: string;
  readonly expression: Expression;
}

export interface ValidatingPolicy {
  readonly conditions: Conditions;
  readonly variables: ReadonlyMap<string, Expression>;
  /** Compiles the expressions. Returns undefined if they are compiled. */
  ready(clock: Clock): Promise<void> | undefined;
  readonly validations: readonly Validation[];
  readonly annotations: readonly AuditAnnotation[];
}

interface ValidatingSpec extends PolicySpec {
  readonly validations?: readonly {
    readonly expression: string;
    readonly message?: string;
    readonly messageExpression?: string;
    readonly reason?: StatusReason;
  }[];
  readonly auditAnnotations?: readonly { readonly key: string; readonly valueExpression: string }[];
}

export function compilePolicy(spec: ValidatingSpec): ValidatingPolicy {
  const compiler = new PolicyCompiler(spec);
  const { variables } = compiler;
  return {
    variables,
    ready: (clock) => compiler.ready(clock),
    conditions: { expressions: compiler.conditions(spec), variables, isStrict: spec.failurePolicy !== 'Ignore' },
    validations: (spec.validations ?? []).map(({ expression, message = '', messageExpression = '', reason }) => ({
      expression: compiler.compile(expression, 'condition'),
      message,
      messageExpression: messageExpression === '' ? undefined : compiler.compile(messageExpression, 'message'),
      reason: reason ?? 'Invalid',
    })),
    annotations: (spec.auditAnnotations ?? []).map(({ key, valueExpression }) => ({
      key,
      expression: compiler.compile(valueExpression, 'auditAnnotation'),
    })),
  };
}
