/**
 * Repeats work for each of many keys with a period, a limited number at the same time. Periods vary by 10 %, so that the work of many keys
 * does not happen at once. Without keys there is no timer.
 */

import { aborted } from '@hangar/core';
import type { Clock, Random, Timer } from '@hangar/core';

export interface ScheduleOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly periodMs: number;
  readonly concurrency: number;
  /** Must not reject. */
  readonly work: (key: string, signal: AbortSignal) => Promise<void>;
}

export class Schedule {
  readonly #options: ScheduleOptions;
  /** The timer of each key. Undefined: the key waits for its turn, or its work runs. */
  readonly #keys = new Map<string, Timer | undefined>();
  readonly #due: string[] = [];
  readonly #running = new Map<string, Promise<void>>();
  #signal: AbortSignal | undefined;

  constructor(options: ScheduleOptions) {
    this.#options = options;
  }

  add(key: string): void {
    if (this.#keys.has(key)) return;
    this.#keys.set(key, undefined);
    // The work of a removed key can still run: it continues the schedule.
    if (!this.#running.has(key)) this.#wait(key);
  }

  remove(key: string): void {
    this.#keys.get(key)?.cancel();
    this.#keys.delete(key);
  }

  /** Resolves after the signal, when no work runs. Can be called again. */
  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    for (const key of this.#keys.keys()) this.#wait(key);
    await aborted(signal);
    for (const timer of this.#keys.values()) timer?.cancel();
    this.#due.length = 0;
    await Promise.all(this.#running.values());
  }

  #wait(key: string): void {
    if (!this.#signal || this.#signal.aborted) return;
    const { clock, random, periodMs } = this.#options;
    this.#keys.get(key)?.cancel();
    const timer = clock.after(periodMs * (0.9 + 0.2 * random.fraction()), () => {
      this.#keys.set(key, undefined);
      this.#due.push(key);
      this.#startDue();
    });
    this.#keys.set(key, timer);
  }

  #startDue(): void {
    const signal = this.#signal!;
    while (this.#due.length > 0 && this.#running.size < this.#options.concurrency && !signal.aborted) {
      const key = this.#due.shift()!;
      if (!this.#keys.has(key) || this.#running.has(key)) continue;
      const ended = this.#options.work(key, signal).finally(() => {
        this.#running.delete(key);
        if (this.#keys.has(key)) this.#wait(key);
        this.#startDue();
      });
      this.#running.set(key, ended);
    }
  }
}
