/**
 * One evaluation of a group of expressions over the same values. Variables are computed when an expression first asks for
 * them, once for the whole group. All of it is paid from one budget, which bounds what a request can cost.
 */

import { CelError, LazyMap, TimeLimit } from '@hangar/cel';
import type { CelBindings, CelValue, Evaluation, Program } from '@hangar/cel';
import { PendingAnswer } from '../expressions/authorizer.ts';
import type { Expression } from './expression.ts';
import { PolicyProblem } from './problem.ts';
import { joinedValues } from './values.ts';

/** What the expressions of one policy and one binding may cost, and what its conditions may. */
export const policyCostLimit = 10_000_000;
export const conditionsCostLimit = 2_500_000;

export class Budget {
  /** Of one expression with its variables. */
  readonly time = new TimeLimit();
  #left: number;

  constructor(costLimit: number) {
    this.#left = costLimit;
  }

  charge(cost: number): void {
    this.#left -= cost;
    if (this.#left >= 0) return;
    throw new PolicyProblem(
      'validation failed due to running out of cost budget, no further validation rules will be run',
    );
  }
}

export type Outcome = { readonly value: CelValue; readonly error?: never } | { readonly error: string };

export class Activation {
  readonly #bindings: CelBindings;
  readonly #budget: Budget;

  constructor(values: CelBindings, variables: ReadonlyMap<string, Expression>, budget: Budget) {
    this.#budget = budget;
    const compute = new Map([...variables].map(([name, one]) => [name, () => this.#variable(name, one)]));
    this.#bindings = joinedValues(values, { variables: new LazyMap('kubernetes.variables', compute) });
  }

  /** Rejects with PolicyProblem when the budget is used up. */
  async evaluate({ text, program, problem }: Expression): Promise<Outcome> {
    if (!program) return { error: `compilation error: ${problem}` };
    for (;;) {
      this.#budget.time.begin();
      try {
        const { value, cost } = this.#run(program);
        this.#budget.charge(cost);
        return { value };
      } catch (thrown) {
        if (thrown instanceof PendingAnswer) await thrown.answered;
        else if (thrown instanceof CelError) {
          this.#budget.charge(thrown.cost);
          return { error: `expression '${text}' resulted in error: ${thrown.message}` };
        } else throw thrown;
      }
    }
  }

  #run(program: Program): Evaluation {
    return program.evaluate(this.#bindings, { interrupted: this.#budget.time.isOver });
  }

  /** Charged as it is computed: an expression over many variables must not outrun the budget before it is looked at. */
  #variable(name: string, { program, problem }: Expression): CelValue {
    if (!program) throw new CelError('Evaluation', `composited variable "${name}" fails to compile: ${problem}`);
    try {
      const { value, cost } = this.#run(program);
      this.#budget.charge(cost);
      return value;
    } catch (thrown) {
      if (!(thrown instanceof CelError)) throw thrown;
      this.#budget.charge(thrown.cost);
      if (thrown.code === 'Interrupted') throw thrown;
      throw new CelError('Evaluation', `composited variable "${name}" fails to evaluate: ${thrown.message}`);
    }
  }
}
