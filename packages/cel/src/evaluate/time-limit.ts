/**
 * What evaluations may take. Costs are counted as Kubernetes counts them, which leaves out much that takes time: without a
 * limit of its own, an expression of a stranger could hold up all others.
 */

import { systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { evaluationMsMax } from '../limits.ts';

export class TimeLimit {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #endsAt: number | undefined;

  /** The machine's clock unless given: nothing but the evaluation itself runs meanwhile, so virtual time would stand still. */
  constructor(clock: Pick<Clock, 'monotonicMs'> = systemClock) {
    this.#clock = clock;
  }

  begin(): void {
    this.#endsAt = undefined;
  }

  /** For `interrupted`. Time counts from the first question: who is done before it is asked has taken none to speak of. */
  readonly isOver = (): boolean => {
    const nowMs = this.#clock.monotonicMs();
    this.#endsAt ??= nowMs + evaluationMsMax;
    return nowMs > this.#endsAt;
  };
}
