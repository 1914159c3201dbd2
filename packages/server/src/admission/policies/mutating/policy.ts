/** A compiled MutatingAdmissionPolicy. */

import type { Clock } from '@hangar/core';
import { PolicyCompiler } from '../expression.ts';
import type { Expression } from '../expression.ts';
import type { Conditions } from '../match-conditions.ts';
import type { PolicySpec } from '../spec.ts';

export interface Mutation {
  readonly type: 'ApplyConfiguration' | 'JSONPatch';
  readonly expression: Expression;
}

export interface MutatingPolicy {
  readonly conditions: Conditions;
  readonly variables: ReadonlyMap<string, Expression>;
  /** Compiles the expressions. Returns undefined if they are compiled. */
  ready(clock: Clock): Promise<void> | undefined;
  readonly mutations: readonly Mutation[];
  readonly isReinvoked: boolean;
}

interface MutatingSpec extends PolicySpec {
  readonly mutations?: readonly {
    readonly patchType: string;
    readonly applyConfiguration?: { readonly expression?: string };
    readonly jsonPatch?: { readonly expression?: string };
  }[];
  readonly reinvocationPolicy?: string;
}

export function compilePolicy(spec: MutatingSpec): MutatingPolicy {
  const compiler = new PolicyCompiler(spec);
  const { variables } = compiler;
  return {
    variables,
    ready: (clock) => compiler.ready(clock),
    conditions: { expressions: compiler.conditions(spec), variables, isStrict: spec.failurePolicy !== 'Ignore' },
    mutations: (spec.mutations ?? []).map(({ patchType, applyConfiguration, jsonPatch }): Mutation =>
      patchType === 'JSONPatch'
        ? { type: 'JSONPatch', expression: compiler.compile(jsonPatch?.expression ?? '', 'jsonPatch') }
        : {
            type: 'ApplyConfiguration',
            expression: compiler.compile(applyConfiguration?.expression ?? '', 'applyConfiguration'),
          },
    ),
    isReinvoked: spec.reinvocationPolicy === 'IfNeeded',
  };
}
