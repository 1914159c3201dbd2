/**
 * Time that stands still until a test moves it. Give it to the cluster, the manager and everything else that takes a clock, and
 * an hour of back-off passes in a millisecond, in the same order for the same seed.
 *
 *   const clock = virtualClock();
 *   await using cluster = await startTestCluster({ clock });
 *   await cluster.client.create(…);       // what needs no time happens by itself
 *   await clock.advance(60_000);          // a minute passes
 *   await clock.run(something);           // as much time as that needs
 *   await clock.until(() => isReady);     // … or as this needs
 *
 * Unlike the simulation's own Scheduler, what is due at once runs without being driven: a test awaits a client's calls as it does
 * in real time. Code under virtual time may wait only for promises that this world settles: no sockets, no files.
 */

import { assert, seededRandom } from '@hangar/core';
import type { Timer } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';

export interface VirtualClockOptions {
  /** Of the order in which things happen that are due at the same instant. */
  readonly seed?: number;
  /** When it begins, in milliseconds since 1970. */
  readonly startMs?: number;
}

export class VirtualClock extends Scheduler {
  /** How many calls move time now. */
  #driving = 0;

  override after(delayMs: number, callback: () => void): Timer {
    if (delayMs > 0 || this.#driving > 0) return super.after(delayMs, callback);
    const immediate = setImmediate(callback);
    return { cancel: () => clearImmediate(immediate) };
  }

  override run<T>(done: Promise<T>): Promise<T> {
    return this.#drive(() => super.run(done));
  }

  override advance(durationMs: number): Promise<void> {
    return this.#drive(() => super.advance(durationMs));
  }

  /** Lets everything happen that needs no time. */
  settle(): Promise<void> {
    return this.advance(0);
  }

  /** Lets time pass until `isSo`, asking after every `stepMs`. An assertion fails when it is not so within `withinMs`. */
  async until(
    isSo: () => boolean | Promise<boolean>,
    { withinMs = 60_000, stepMs = 10 }: { readonly withinMs?: number; readonly stepMs?: number } = {},
  ): Promise<void> {
    const endMs = this.monotonicMs() + withinMs;
    await this.settle();
    while (!(await isSo())) {
      assert(this.monotonicMs() < endMs, `not so within ${withinMs} ms of virtual time`);
      await this.advance(stepMs);
    }
  }

  async #drive<T>(move: () => Promise<T>): Promise<T> {
    this.#driving++;
    try {
      return await move();
    } finally {
      // What is due at once and was left behind: nobody would drive it after this.
      if (this.#driving === 1) await super.advance(0);
      this.#driving--;
    }
  }
}

export const virtualClock = ({ seed = 1, startMs }: VirtualClockOptions = {}): VirtualClock =>
  new VirtualClock(seededRandom(seed), startMs);
