/**
 * Looks at everything again: once for however many events said so together, and a little in each turn of the event loop, because
 * everything may be a hundred thousand objects of thousands of clusters.
 *
 *   event ──► ask ──┬──► pass: a few … a few … a few ──► over
 *   event ──► ask ──┘        ▲ asked again meanwhile: what was passed already may have to know, so another pass follows
 */

import { asError, breathe } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { inTurns } from '../in-turns.ts';

export interface SweepOptions<T> {
  readonly clock: Clock;
  /** What there is now. Read over several turns. */
  everything(): Iterable<T>;
  each(one: T, priority: number): void;
  /** The pass is over then; what it did not come to is not looked at. */
  onFailure(error: Error): void;
}

const stepsPerTurn = 200;

export class Sweep<T> {
  readonly #options: SweepOptions<T>;
  /** Of the pass that is to come; undefined: nobody asked for one. */
  #priority: number | undefined;
  #isRunning = false;
  readonly #stopped = new AbortController();

  constructor(options: SweepOptions<T>) {
    this.#options = options;
  }

  /** Does nothing of it before it returns. */
  ask(priority: number): void {
    this.#priority = Math.max(priority, this.#priority ?? -Infinity);
    if (!this.#isRunning && !this.#stopped.signal.aborted) void this.#run();
  }

  /** At once and for good. */
  stop(): void {
    this.#stopped.abort();
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    const { clock, onFailure } = this.#options;
    this.#isRunning = true;
    await breathe(clock);
    while (this.#priority !== undefined && !this.#stopped.signal.aborted) {
      const priority = this.#priority;
      this.#priority = undefined;
      try {
        await this.#pass(priority);
      } catch (error) {
        onFailure(asError(error));
      }
    }
    this.#isRunning = false;
  }

  async #pass(priority: number): Promise<void> {
    const { clock, everything, each } = this.#options;
    const { signal } = this.#stopped;
    await inTurns({ clock, signal, atOnce: stepsPerTurn }, everything(), (one) => each(one, priority));
  }
}
