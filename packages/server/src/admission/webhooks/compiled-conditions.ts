/** Match conditions compiled with CEL. Imported only by `conditions.ts`, when there is a condition. */

import { CelError } from '@hangar/cel';
import type { CelBindings } from '@hangar/cel';
import { authorizerBindings, PendingAnswer } from '../expressions/authorizer.ts';
import { ExpressionQueue } from '../expressions/expression-queue.ts';
import type { Expression } from '../expressions/expression-queue.ts';
import { workOf } from '../expressions/request-work.ts';
import type { RequestWork } from '../expressions/request-work.ts';
import type { MatchCondition, Seen } from './conditions.ts';

/** Cost limit of all conditions of a webhook together: about 250 ms. */
const costMax = 2_500_000;

export class CompiledConditions {
  readonly #conditions: readonly MatchCondition[];
  readonly #ignoresFailure: boolean;
  readonly #queue = new ExpressionQueue();
  readonly #expressions: readonly Expression[];

  constructor(conditions: readonly MatchCondition[], ignoresFailure: boolean) {
    this.#conditions = conditions;
    this.#ignoresFailure = ignoresFailure;
    const scope = { hasParams: false, hasAuthorizer: true };
    this.#expressions = conditions.map(({ expression: text }) => this.#queue.add({ text, use: 'condition', scope }));
  }

  /** Rejects with an Error if the result is unknown and failures are not ignored. */
  async match(seen: Seen): Promise<boolean> {
    const pending = this.#queue.ready(seen.request.plane.clock);
    if (pending) await pending;
    const outcome = await this.#answered(seen);
    if (typeof outcome === 'boolean') return outcome;
    if (this.#ignoresFailure) return false;
    throw new Error(outcome.length === 1 ? outcome[0]! : `[${outcome.join(', ')}]`);
  }

  /** Repeats the evaluation until all answers of the authorizer are available. */
  async #answered({ request, described, object, old }: Seen): Promise<boolean | string[]> {
    const bindings = {
      object: object ?? null,
      oldObject: old ?? null,
      request: described,
      namespaceObject: null,
      ...authorizerBindings(request),
    };
    const work = workOf(request);
    for (;;) {
      try {
        return await this.#evaluate(bindings, work);
      } catch (error) {
        if (!(error instanceof PendingAnswer)) throw error;
        await error.answered;
      }
    }
  }

  /** Returns the failures if no condition is false. */
  async #evaluate(bindings: CelBindings, { budget, clock }: RequestWork): Promise<boolean | string[]> {
    const failures: string[] = [];
    let left = costMax;
    for (const [at, { program, problem }] of this.#expressions.entries()) {
      if (program === undefined) {
        failures.push(problem);
        continue;
      }
      const rest = budget.rest(clock);
      if (rest) await rest;
      try {
        const { value, cost } = program.evaluate(bindings, { costLimit: left, budget });
        left -= cost;
        if (value === false) return false;
        if (value !== true)
          failures.push(failure(this.#conditions[at]!, 'the expression did not evaluate to a boolean'));
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
