/**
 * Evaluates a group of expressions over the same values. Variables are computed on first use, once for the group. One budget bounds the
 * cost of a request.
 */

import { CelError, LazyMap } from '@hangar/cel';
import type { CelBindings, CelValue, Evaluation, Program } from '@hangar/cel';
import { PendingAnswer } from '../expressions/authorizer.ts';
import type { RequestWork } from '../expressions/request-work.ts';
import type { Expression } from './expression.ts';
import { PolicyProblem } from './problem.ts';
import { joinedValues } from './values.ts';

/** CEL cost limits of the expressions of one policy and binding, and of its match conditions. */
export const policyCostLimit = 10_000_000;
export const conditionsCostLimit = 2_500_000;

/** Remaining CEL cost of a group of expressions. */
export class Budget {
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

export interface Limits {
  readonly budget: Budget;
  readonly work: RequestWork;
}

export type Outcome = { readonly value: CelValue; readonly error?: never } | { readonly error: string };

export class Activation {
  readonly #bindings: CelBindings;
  readonly #budget: Budget;
  readonly #work: RequestWork;

  constructor(values: CelBindings, variables: ReadonlyMap<string, Expression>, limits: Limits) {
    this.#budget = limits.budget;
    this.#work = limits.work;
    const compute = new Map([...variables].map(([name, one]) => [name, () => this.#variable(name, one)]));
    this.#bindings = joinedValues(values, { variables: new LazyMap('kubernetes.variables', compute) });
  }

  /** Rejects with PolicyProblem if the budget is exhausted. Lets other requests run first, when due. */
  async evaluate({ text, program, problem }: Expression): Promise<Outcome> {
    if (!program) return { error: `compilation error: ${problem}` };
    for (;;) {
      const rest = this.#work.budget.rest(this.#work.clock);
      if (rest) await rest;
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

  /** Charges the conversion of a value to the budget, like its evaluation. Throws PolicyProblem. */
  convert<Result>(make: () => Result): Result {
    try {
      return this.#work.budget.run(make);
    } catch (error) {
      if (error instanceof CelError) throw new PolicyProblem(error.message, { cause: error });
      throw error;
    }
  }

  #run(program: Program): Evaluation {
    const { clock, evaluation } = this.#work;
    const beforeMs = clock.monotonicMs();
    try {
      return program.evaluate(this.#bindings, this.#work);
    } finally {
      evaluation?.observe((clock.monotonicMs() - beforeMs) / 1_000);
    }
  }

  /** Charged when it is computed: an expression with many variables must not exceed the budget before the next check. */
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
