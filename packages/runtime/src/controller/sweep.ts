/**
 * Enqueues all objects again: once for any number of concurrent events, and in small portions for each turn of the event loop, because
 * there may be a hundred thousand objects in thousands of clusters.
 *
 *   event ──► ask ──┬──► pass: a few … a few … a few ──► over
 *   event ──► ask ──┘        ▲ another event meanwhile: processed objects may be affected, so another pass follows
 */

import { asError, breathe } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { inTurns } from '../in-turns.ts';

export interface SweepOptions<T> {
  readonly clock: Clock;
  /** Returns all current objects. Consumed over several turns. */
  everything(): Iterable<T>;
  each(one: T, priority: number): void;
  /** Called when the pass failed; its remaining objects are skipped. */
  onFailure(error: Error): void;
}

const stepsPerTurn = 200;

export class Sweep<T> {
  readonly #options: SweepOptions<T>;
  /** Priority of the next pass; undefined: none was requested. */
  #priority: number | undefined;
  #isRunning = false;
  readonly #stopped = new AbortController();

  constructor(options: SweepOptions<T>) {
    this.#options = options;
  }

  /** Asynchronous: enqueues nothing before it returns. */
  ask(priority: number): void {
    this.#priority = Math.max(priority, this.#priority ?? -Infinity);
    if (!this.#isRunning && !this.#stopped.signal.aborted) void this.#run();
  }

  /** Stops at once and permanently. */
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
