/**
 * Repeats work for each of many keys, a limited number at the same time and not more often than a spacing allows. The work decides when it
 * is due again. Without keys there is no timer.
 *
 *     const schedule = new Schedule({ clock, concurrency: 8, work: async (key) => (await isUrgent(key)) ? 5_000 : 60_000 });
 *     schedule.add('team/demo');
 *     await schedule.run(signal);
 */

import { sleep } from '@hangar/core';
import type { Clock, Random } from '@hangar/core';

export interface ScheduleOptions {
  readonly clock: Clock;
  readonly concurrency: number;
  /** Time between the starts of two keys. Absent: 0. */
  readonly spacingMs?: number | undefined;
  /** Returns the time until the key is due again. Must not reject. */
  readonly work: (key: string, signal: AbortSignal) => Promise<number>;
}

interface Entry {
  readonly key: string;
  dueMs: number;
  /** Start of the last run. */
  startedMs: number;
}

/** Returns a period that varies by 10 %, so that the work of many keys does not happen at once. */
export const jittered = (periodMs: number, random: Random): number => periodMs * (0.9 + 0.2 * random.fraction());

export class Schedule {
  readonly #options: ScheduleOptions;
  readonly #entries = new Map<string, Entry>();
  /** The work of a removed key can still run. */
  readonly #running = new Map<string, Promise<void>>();
  #wake: () => void = () => {};

  constructor(options: ScheduleOptions) {
    this.#options = options;
  }

  /** A key that is known keeps its time. */
  add(key: string, delayMs = 0): void {
    if (this.#entries.has(key)) return;
    const nowMs = this.#options.clock.monotonicMs();
    this.#entries.set(key, { key, dueMs: nowMs + delayMs, startedMs: -Infinity });
    this.#wake();
  }

  /** Makes a key due earlier, but not before this time has passed since its last start. */
  hasten(key: string, sinceStartMs: number): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    entry.dueMs = Math.min(entry.dueMs, entry.startedMs + sinceStartMs);
    this.#wake();
  }

  remove(key: string): void {
    this.#entries.delete(key);
  }

  /** Resolves after the signal, when no work runs. Can be called again. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, concurrency, spacingMs = 0 } = this.#options;
    while (!signal.aborted) {
      const next = this.#running.size < concurrency ? this.#next() : undefined;
      const waitMs = next && next.dueMs - clock.monotonicMs();
      if (next && waitMs! <= 0) {
        this.#start(next, signal);
        if (spacingMs > 0) await sleep(clock, spacingMs, signal).catch(() => {});
      } else await this.#idle(waitMs, signal);
    }
    await Promise.all(this.#running.values());
  }

  /** Of the keys that do not run, the first one that is due. */
  #next(): Entry | undefined {
    let first: Entry | undefined;
    for (const entry of this.#entries.values()) {
      if (!this.#running.has(entry.key) && (!first || entry.dueMs < first.dueMs)) first = entry;
    }
    return first;
  }

  #start(entry: Entry, signal: AbortSignal): void {
    const { clock, work } = this.#options;
    entry.startedMs = clock.monotonicMs();
    entry.dueMs = Infinity;
    const ended = work(entry.key, signal).then((delayMs) => {
      this.#running.delete(entry.key);
      // A call of `hasten` during the work can have set an earlier time.
      entry.dueMs = Math.min(entry.dueMs, clock.monotonicMs() + delayMs);
      this.#wake();
    });
    this.#running.set(entry.key, ended);
  }

  /** Resolves when a key may be due. */
  async #idle(waitMs: number | undefined, signal: AbortSignal): Promise<void> {
    const woken = Promise.withResolvers<void>();
    const ending = new AbortController();
    const waits = AbortSignal.any([signal, ending.signal]);
    this.#wake = woken.resolve;
    // Without a time, only a call or the end of the work can make a key due.
    const isTimed = waitMs !== undefined && Number.isFinite(waitMs);
    const timer = isTimed ? [sleep(this.#options.clock, waitMs, waits).catch(() => {})] : [];
    const aborted = new Promise<void>((resolve) => waits.addEventListener('abort', () => resolve(), { once: true }));
    await Promise.race([woken.promise, aborted, ...timer]);
    ending.abort();
    this.#wake = () => {};
  }
}
