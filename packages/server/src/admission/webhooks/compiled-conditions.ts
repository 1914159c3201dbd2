/** Match conditions with CEL behind them. Only `conditions.ts` imports this, when there is a condition. */

import { compileProgram } from '@hangar/api/expressions';
import { CelError } from '@hangar/cel';
import type { CelBindings, Program } from '@hangar/cel';
import { authorizerBindings, PendingAnswer } from '../expressions/authorizer.ts';
import type { MatchCondition, Seen } from './conditions.ts';

/** Of all conditions of a webhook together: about a quarter of a second. */
const costMax = 2_500_000;

export class CompiledConditions {
  readonly #conditions: readonly MatchCondition[];
  readonly #ignoresFailure: boolean;
  /** Texts stand for what does not compile. */
  readonly #programs: readonly (Program | string)[];

  constructor(conditions: readonly MatchCondition[], ignoresFailure: boolean) {
    this.#conditions = conditions;
    this.#ignoresFailure = ignoresFailure;
    this.#programs = conditions.map(({ expression }) => {
      const { program, problem } = compileProgram(expression, 'condition', { hasParams: false, hasAuthorizer: true });
      return program ?? problem?.detail ?? 'compilation failed';
    });
  }

  /** Rejects with an Error when it cannot be said, and failures are not to be ignored. */
  async match(seen: Seen): Promise<boolean> {
    const outcome = await this.#answered(seen);
    if (typeof outcome === 'boolean') return outcome;
    if (this.#ignoresFailure) return false;
    throw new Error(outcome.length === 1 ? outcome[0]! : `[${outcome.join(', ')}]`);
  }

  /** Evaluates as often as answers of the authorizer are missing. */
  async #answered({ request, described, object, old }: Seen): Promise<boolean | string[]> {
    const bindings = {
      object: object ?? null,
      oldObject: old ?? null,
      request: described,
      namespaceObject: null,
      ...authorizerBindings(request),
    };
    for (;;) {
      try {
        return this.#evaluate(bindings);
      } catch (error) {
        if (!(error instanceof PendingAnswer)) throw error;
        await error.answered;
      }
    }
  }

  /** Texts when there are failures only. */
  #evaluate(bindings: CelBindings): boolean | string[] {
    const failures: string[] = [];
    let left = costMax;
    for (const [at, program] of this.#programs.entries()) {
      if (typeof program === 'string') {
        failures.push(program);
        continue;
      }
      try {
        const { value, cost } = program.evaluate(bindings, { costLimit: left });
        left -= cost;
        if (value === false) return false;
        if (value !== true) failures.push(failure(this.#conditions[at]!, 'it is neither true nor false'));
      } catch (error) {
        if (!(error instanceof CelError)) throw error;
        failures.push(failure(this.#conditions[at]!, error.message));
        left -= error.cost;
      }
      if (left <= 0) return [...failures, outOfBudget];
    }
    return failures.length === 0 || failures;
  }
}

const outOfBudget = 'validation failed due to running out of cost budget, no further validation rules will be run';

const failure = ({ expression }: MatchCondition, message: string): string =>
  `expression '${expression}' resulted in error: ${message}`;
