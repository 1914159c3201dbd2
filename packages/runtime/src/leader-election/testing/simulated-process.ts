/**
 * testing: a process in virtual time with a separate clock of different rate and offset. It can be paused, as by a suspended machine or
 * garbage collection: its timers fire and its responses arrive when it resumes, and its clock shows the duration of the pause.
 */

import type { Clock, Timer } from '@hangar/core';

export interface SimulatedProcessOptions {
  readonly world: Clock;
  /** Rate of its clock: 1.1 is ten percent too fast. */
  readonly rate: number;
  readonly offsetMs: number;
}

export class SimulatedProcess implements Clock {
  readonly #options: SimulatedProcessOptions;
  #pausedUntilMs = -Infinity;

  constructor(options: SimulatedProcessOptions) {
    this.#options = options;
  }

  get isPaused(): boolean {
    return this.#options.world.monotonicMs() < this.#pausedUntilMs;
  }

  /** Pauses for this time of the world's clock. Infinity: it crashed. */
  pause(durationMs: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.#options.world.monotonicMs() + durationMs);
  }

  now(): number {
    const { world, rate, offsetMs } = this.#options;
    return Math.floor(world.now() + offsetMs + world.monotonicMs() * (rate - 1));
  }

  monotonicMs(): number {
    const { world, rate, offsetMs } = this.#options;
    return world.monotonicMs() * rate + Math.abs(offsetMs);
  }

  after(delayMs: number, callback: () => void): Timer {
    const { world, rate } = this.#options;
    let timer = world.after(delayMs / rate, () => fire());
    const fire = (): void => {
      if (!this.isPaused) return callback();
      if (this.#pausedUntilMs === Infinity) return;
      timer = world.after(this.#pausedUntilMs - world.monotonicMs(), () => fire());
    };
    return { cancel: () => timer.cancel() };
  }

  soon(callback: () => void): Timer {
    return this.after(0, callback);
  }

  /** Resolves when it runs. */
  awake(): Promise<void> {
    return this.isPaused ? new Promise((resolve) => this.soon(resolve)) : Promise.resolve();
  }
}
