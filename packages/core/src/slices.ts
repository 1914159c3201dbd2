/**
 * Long work in slices, with the event loop released between them, so that one request does not delay the others.
 *
 *     function* encoded(entries: readonly Entry[]): Steps<Buffer[]> {
 *       const made = [];
 *       for (const entry of entries) {
 *         made.push(encode(entry));
 *         yield;                       // the work may pause here
 *       }
 *       return made;
 *     }
 *     const made = await inSlices(new Slicer(clock), encoded(entries));
 *
 * Short work never pauses: it completes in one slice. In a simulation, where time does not advance while code runs, no work pauses.
 */

import { resumed } from './activity.ts';
import { breathe } from './clock.ts';
import type { Clock } from './clock.ts';

/** The event loop is released after this time. A step between two pauses may add its own time to it. */
const sliceMs = 8;

/** The time since work began or last paused. One for each request: its steps share the slice. */
export class Slicer {
  readonly #clock: Clock;
  #sinceMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#sinceMs = clock.monotonicMs();
  }

  /** A promise that releases the event loop when the slice is used up, else undefined. */
  pause(): Promise<void> | undefined {
    return this.#clock.monotonicMs() - this.#sinceMs < sliceMs ? undefined : this.#released();
  }

  /** Begins a new slice, which is charged to the current activity: for work that continues after it waited for something else. */
  restart(): void {
    resumed(undefined);
    this.#sinceMs = this.#clock.monotonicMs();
  }

  async #released(): Promise<void> {
    await breathe(this.#clock);
    this.restart();
  }
}

/** Work that may pause at each `yield`. */
export type Steps<T> = Generator<void, T, void>;

/** Runs the work, with pauses. Returns the result itself when there was none. */
export function inSlices<T>(slicer: Slicer, steps: Steps<T>): T | Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    const paused = slicer.pause();
    if (paused) return continued(slicer, steps, paused);
  }
}

async function continued<T>(slicer: Slicer, steps: Steps<T>, paused: Promise<void> | undefined): Promise<T> {
  for (;;) {
    if (paused) await paused;
    const { done, value } = steps.next();
    if (done) return value;
    paused = slicer.pause();
  }
}

/** Runs the work without pauses. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
