/** The compiled expressions of a policy. An expression that does not compile fails when it is evaluated. */

import type { ExpressionScope, ExpressionUse } from '@hangar/api/expressions';
import type { Clock } from '@hangar/core';
import { ExpressionQueue } from '../expressions/expression-queue.ts';
import type { Expression } from '../expressions/expression-queue.ts';
import type { NamedExpression, PolicySpec } from './spec.ts';

export type { Expression };

/** Compiles the expressions of one policy in a shared scope. */
export class PolicyCompiler {
  readonly variables: ReadonlyMap<string, Expression>;
  readonly #scope: ExpressionScope;
  readonly #queue = new ExpressionQueue();

  constructor(spec: PolicySpec) {
    const types = new Map<string, unknown>();
    this.#scope = { hasParams: spec.paramKind !== undefined, hasAuthorizer: true, variables: types };
    this.variables = this.#declare(spec.variables ?? [], types);
  }

  /** Each variable may refer to the variables before it. */
  #declare(declared: readonly NamedExpression[], types: Map<string, unknown>): Map<string, Expression> {
    const variables = new Map<string, Expression>();
    for (const { name, expression: text } of declared) {
      const expression = this.#queue.add({
        text,
        use: 'variable',
        scope: this.#scope,
        onCompiled: (program) => types.set(name, program?.outputType),
      });
      variables.set(name, expression);
    }
    return variables;
  }

  compile(text: string, use: ExpressionUse): Expression {
    const scope = use === 'message' ? { ...this.#scope, hasAuthorizer: false } : this.#scope;
    return this.#queue.add({ text, use, scope });
  }

  conditions(spec: PolicySpec): readonly Expression[] {
    return (spec.matchConditions ?? []).map(({ expression }) => this.compile(expression, 'condition'));
  }

  /** Compiles all expressions once; other requests run in between. Returns undefined if all are compiled. */
  ready(clock: Clock): Promise<void> | undefined {
    return this.#queue.ready(clock);
  }
}
