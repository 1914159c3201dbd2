/** Caches answers for a limited time and evicts the least recently used. */

import type { Clock } from '@hangar/core';

const answersMax = 8_192;
/** Longer keys are not cached: they do not occur in normal use. */
const keyLengthMax = 10_000;

export class KeptAnswers<T> {
  readonly #clock: Clock;
  readonly #answers = new Map<string, { readonly answer: T; readonly untilMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(key: string): T | undefined {
    const kept = this.#answers.get(key);
    if (!kept) return undefined;
    this.#answers.delete(key);
    if (kept.untilMs <= this.#clock.monotonicMs()) return undefined;
    this.#answers.set(key, kept);
    return kept.answer;
  }

  set(key: string, answer: T, forMs: number): void {
    if (forMs <= 0 || key.length > keyLengthMax) return;
    this.#answers.delete(key);
    this.#answers.set(key, { answer, untilMs: this.#clock.monotonicMs() + forMs });
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > answersMax) this.#answers.delete(oldest!);
  }
}
