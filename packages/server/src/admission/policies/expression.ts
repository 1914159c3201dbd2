/** The expressions of a policy, compiled. One that does not compile fails when it is evaluated, if it is. */

import { compileProgram } from '@hangar/api/expressions';
import type { ExpressionScope, ExpressionUse } from '@hangar/api/expressions';
import { compilationMsMax, WorkBudget } from '@hangar/cel';
import type { Program } from '@hangar/cel';
import type { Clock } from '@hangar/core';
import type { NamedExpression, PolicySpec } from './spec.ts';

export interface Expression {
  readonly text: string;
  /** Undefined when there is a problem. */
  readonly program: Program | undefined;
  readonly problem: string;
}

/** Nothing is known of it before its policy is ready. */
interface PendingExpression extends Expression {
  program: Program | undefined;
  problem: string;
}

/** What all expressions of one policy may refer to. */
export class PolicyCompiler {
  readonly variables: ReadonlyMap<string, Expression>;
  readonly #scope: ExpressionScope;
  /** In the order in which they must be compiled. */
  readonly #pending: ((budget: WorkBudget) => void)[] = [];
  #compiling: Promise<void> | undefined;

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
      this.#pending.push(() => types.set(name, compiled.program?.outputType));
      variables.set(name, compiled);
    }
    return variables;
  }

  compile(text: string, use: ExpressionUse): Expression {
    const scope = use === 'message' ? { ...this.#scope, hasAuthorizer: false } : this.#scope;
    const expression: PendingExpression = { text, program: undefined, problem: '' };
    this.#pending.push((budget) => {
      const { program, problem } = compileProgram(text, use, scope, budget);
      expression.program = program;
      expression.problem = problem?.detail ?? '';
    });
    return expression;
  }

  conditions(spec: PolicySpec): readonly Expression[] {
    return (spec.matchConditions ?? []).map(({ expression }) => this.compile(expression, 'condition'));
  }

  /** Compiles all expressions, once; other requests run in between. Undefined: they are compiled. */
  ready(clock: Clock): Promise<void> | undefined {
    if (this.#pending.length === 0) return undefined;
    return (this.#compiling ??= this.#compileAll(clock));
  }

  async #compileAll(clock: Clock): Promise<void> {
    const budget = new WorkBudget({ totalMs: compilationMsMax });
    for (const compile of this.#pending) {
      await budget.rest(clock);
      compile(budget);
    }
    this.#pending.length = 0;
  }
}
