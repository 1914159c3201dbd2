/**
 * Limits the number of programs that start at the same time: a start costs seconds of CPU, so a hundred at once would slow each other down.
 * Programs that keep exiting use separate, fewer slots, so that they do not delay first starts.
 */

import type { Clock } from '@hangar/core';
import { Starts } from '@hangar/runtime/clusters';

export interface SlotsOptions {
  readonly clock: Clock;
  readonly concurrency: number;
}

/** A program that is not ready by then is waiting: its slot is released. */
const heldMaxMs = 15_000;

export class Slots {
  readonly #ordinary: Starts;
  readonly #again: Starts;

  constructor({ clock, concurrency }: SlotsOptions) {
    this.#ordinary = new Starts({ clock, places: concurrency, lendAfterMs: heldMaxMs });
    this.#again = new Starts({ clock, places: Math.max(1, Math.floor(concurrency / 2)), lendAfterMs: heldMaxMs });
  }

  /** Resolves with the function that releases the slot (idempotent); rejects with `Aborted`. */
  enter(isLooping: boolean, signal: AbortSignal): Promise<() => void> {
    return (isLooping ? this.#again : this.#ordinary).enter(signal);
  }
}
