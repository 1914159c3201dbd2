/** The expressions of a policy, compiled. One that does not compile fails when it is evaluated, if it is. */

import { compileProgram } from '@hangar/api/expressions';
import type { ExpressionScope, ExpressionUse } from '@hangar/api/expressions';
import type { Program } from '@hangar/cel';
import type { NamedExpression, PolicySpec } from './spec.ts';

export interface Expression {
  readonly text: string;
  /** Undefined when there is a problem. */
  readonly program: Program | undefined;
  readonly problem: string;
}

/** What all expressions of one policy may refer to. */
export class PolicyCompiler {
  readonly variables: ReadonlyMap<string, Expression>;
  readonly #scope: ExpressionScope;

  constructor(spec: PolicySpec) {
    const types = new Map<string, unknown>();
    this.#scope = { hasParams: spec.paramKind !== undefined, hasAuthorizer: true, variables: types };
    this.variables = this.#declare(spec.variables ?? [], types);
  }

  /** Each may refer to those before it. */
  #declare(declared: readonly NamedExpression[], types: Map<string, unknown>): Map<string, Expression> {
    const variables = new Map<string, Expression>();
    for (const { name, expression } of declared) {
      const compiled = this.compile(expression, 'variable');
      types.set(name, compiled.program?.outputType);
      variables.set(name, compiled);
    }
    return variables;
  }

  compile(text: string, use: ExpressionUse): Expression {
    const scope = use === 'message' ? { ...this.#scope, hasAuthorizer: false } : this.#scope;
    const { program, problem } = compileProgram(text, use, scope);
    return { text, program, problem: problem?.detail ?? '' };
  }

  conditions(spec: PolicySpec): readonly Expression[] {
    return (spec.matchConditions ?? []).map(({ expression }) => this.compile(expression, 'condition'));
  }
}
