/**
 * A clock that only the test advances. Pass it to the cluster, the manager and all other components that accept a clock: an hour of
 * back-off then passes in a millisecond, in an order that depends only on the seed.
 *
 *     const clock = virtualClock();
 *     await using cluster = await startTestCluster({ clock });
 *     await cluster.client.create(…);       // work that needs no time runs by itself
 *     await clock.advance(60_000);          // a minute passes
 *     await clock.run(something);           // advances until the promise settles
 *     await clock.until(() => isReady);     // advances until the condition is true
 *
 * Unlike the Scheduler of the simulation, timers that are due immediately run without an advance, so a test awaits the calls of a client
 * as in real time. Code under virtual time may wait only for promises that depend on this clock, not for sockets or files.
 */

import { assert, seededRandom } from '@hangar/core';
import type { Timer } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';

/** Options of `virtualClock`. */
export interface VirtualClockOptions {
  /** Seed of the order of events that are due at the same time. Absent: 1. */
  readonly seed?: number;
  /** Start time in milliseconds since 1970. */
  readonly startMs?: number;
}

/** A clock that only the test advances. */
export class VirtualClock extends Scheduler {
  /** Number of calls that advance the time now. */
  #driving = 0;

  /** Runs a callback after a delay of virtual time. */
  override after(delayMs: number, callback: () => void): Timer {
    if (delayMs > 0 || this.#driving > 0) return super.after(delayMs, callback);
    const immediate = setImmediate(callback);
    return { cancel: () => clearImmediate(immediate) };
  }

  /** Advances the time until the promise settles. */
  override run<T>(done: Promise<T>): Promise<T> {
    return this.#drive(() => super.run(done));
  }

  /** Advances the time by this duration and runs everything that becomes due. */
  override advance(durationMs: number): Promise<void> {
    return this.#drive(() => super.advance(durationMs));
  }

  /** Runs everything that is due now. */
  settle(): Promise<void> {
    return this.advance(0);
  }

  /** Advances the time in steps of `stepMs` until the condition is true. An assertion fails when it is not true within `withinMs`. */
  async until(
    isSo: () => boolean | Promise<boolean>,
    { withinMs = 60_000, stepMs = 10 }: { readonly withinMs?: number; readonly stepMs?: number } = {},
  ): Promise<void> {
    const endMs = this.monotonicMs() + withinMs;
    await this.settle();
    while (!(await isSo())) {
      assert(this.monotonicMs() < endMs, `the condition did not become true within ${withinMs} ms of virtual time`);
      await this.advance(stepMs);
    }
  }

  async #drive<T>(move: () => Promise<T>): Promise<T> {
    this.#driving++;
    try {
      return await move();
    } finally {
      // Runs work that is due at once: no other call would advance it after this.
      if (this.#driving === 1) await super.advance(0);
      this.#driving--;
    }
  }
}

/** Creates a virtual clock. */
export const virtualClock = ({ seed = 1, startMs }: VirtualClockOptions = {}): VirtualClock =>
  new VirtualClock(seededRandom(seed), startMs);
