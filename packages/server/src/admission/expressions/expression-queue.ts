/**
 * Compiles the expressions of one policy or webhook in order, once; other requests run in between.
 *
 *     const queue = new ExpressionQueue();
 *     const expression = queue.add({ text: 'object.metadata.name != ""', use: 'condition', scope });
 *     await queue.ready(clock);
 *     expression.program?.evaluate(bindings);
 */

import { compileProgram } from '@hangar/api/expressions';
import type { ExpressionScope, ExpressionUse } from '@hangar/api/expressions';
import { CelError, compilationMsMax, interruptionsMax, WorkBudget } from '@hangar/cel';
import type { Program } from '@hangar/cel';
import type { Clock } from '@hangar/core';

export interface Expression {
  readonly text: string;
  /** Undefined when there is a problem. */
  readonly program: Program | undefined;
  readonly problem: string;
}

export interface ExpressionSource {
  readonly text: string;
  readonly use: ExpressionUse;
  readonly scope: ExpressionScope;
  /** Called when the expression is compiled, before the next one. */
  readonly onCompiled?: (program: Program | undefined) => void;
}

interface PendingExpression {
  readonly source: ExpressionSource;
  readonly expression: { -readonly [Key in keyof Expression]: Expression[Key] };
  interruptions: number;
}

/** Problem of an expression that is evaluated although the budget was exhausted before it was compiled. */
const notCompiled = `compilation failed: operation interrupted: expressions of this request take more than ${compilationMsMax} ms of CPU time`;

export class ExpressionQueue {
  /** In the order in which they must be compiled. */
  readonly #pending: PendingExpression[] = [];
  #compiling: Promise<void> | undefined;

  add(source: ExpressionSource): Expression {
    const expression = { text: source.text, program: undefined, problem: notCompiled };
    this.#pending.push({ source, expression, interruptions: 0 });
    return expression;
  }

  /**
   * Compiles the remaining expressions. Returns undefined if all are compiled. If the budget of one request is exhausted, the next request
   * compiles the rest; evaluating them in this request fails.
   */
  ready(clock: Clock): Promise<void> | undefined {
    if (this.#pending.length === 0) return undefined;
    return (this.#compiling ??= this.#compileAll(clock).finally(() => (this.#compiling = undefined)));
  }

  async #compileAll(clock: Clock): Promise<void> {
    const budget = new WorkBudget({ totalMs: compilationMsMax });
    for (let next = this.#pending[0]; next !== undefined && !budget.isExhausted; next = this.#pending[0]) {
      await budget.rest(clock);
      if (compileNext(next, budget)) this.#pending.shift();
    }
  }
}

/**
 * Returns false if the compilation was interrupted and must be repeated. An interruption is not a property of the expression: a garbage
 * collection or a slow processor can cause it. All tenants share the result, so an interruption is kept only after `interruptionsMax` of
 * them.
 */
function compileNext(pending: PendingExpression, budget: WorkBudget): boolean {
  const { source, expression } = pending;
  try {
    const { program, problem } = compileProgram(source.text, source.use, source.scope, budget);
    expression.program = program;
    expression.problem = problem?.detail ?? '';
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    if (budget.isExhausted || ++pending.interruptions < interruptionsMax) return false;
    expression.problem = `compilation failed: ${error.message}`;
  }
  source.onCompiled?.(expression.program);
  return true;
}
