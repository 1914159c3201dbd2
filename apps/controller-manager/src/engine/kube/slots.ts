/**
 * How many programs of all clusters are being started at a time: a start costs seconds of a processor, so a hundred at once would be
 * slower for each. Programs that keep ending have slots of their own, fewer: however many they are, they delay nobody's first start.
 */

import type { Clock } from '@hangar/core';
import { Starts } from '@hangar/runtime/clusters';

export interface SlotsOptions {
  readonly clock: Clock;
  readonly concurrency: number;
}

/** Who has not come up by then only waits for something: the slot goes to the next. */
const heldMaxMs = 15_000;

export class Slots {
  readonly #ordinary: Starts;
  readonly #again: Starts;

  constructor({ clock, concurrency }: SlotsOptions) {
    this.#ordinary = new Starts({ clock, places: concurrency, lendAfterMs: heldMaxMs });
    this.#again = new Starts({ clock, places: Math.max(1, Math.floor(concurrency / 2)), lendAfterMs: heldMaxMs });
  }

  /** Resolves with the way to give it back (idempotent); rejects with `Aborted`. */
  enter(isLooping: boolean, signal: AbortSignal): Promise<() => void> {
    return (isLooping ? this.#again : this.#ordinary).enter(signal);
  }
}
