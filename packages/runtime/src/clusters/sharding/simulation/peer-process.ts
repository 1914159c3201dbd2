/**
 * A process with a separate clock: its rate is slightly off, its epoch arbitrary. It can be suspended and resumed (time passes, timers are
 * late), its machine can sleep (the monotonic clock stops, the wall clock does not), and it can die, after which it never acts again. All
 * external input enters through `enter`.
 */

import type { Clock, Timer } from '@hangar/core';
import type { Scheduler } from '@hangar/core/simulation';

export interface PeerClockOptions {
  /** 1.02: two per cent too fast. */
  readonly rate: number;
  readonly monotonicOffsetMs: number;
  readonly wallOffsetMs: number;
}

export class PeerProcess {
  readonly name: string;
  readonly #world: Scheduler;
  readonly #clock: PeerClockOptions;
  #waiting: (() => void)[] = [];
  #sleptMs = 0;
  #asleepSinceMs: number | undefined;
  #wallStepMs = 0;
  isPaused = false;
  isDead = false;
  hasSlept = false;
  /** Time of the last fault that may cost it its clusters. */
  lastDisturbedMs = 0;

  constructor(name: string, world: Scheduler, clock: PeerClockOptions) {
    this.name = name;
    this.#world = world;
    this.#clock = clock;
  }

  /** Runs the callback in this process: now, when it resumes, or never. */
  enter(callback: () => void): void {
    if (this.isDead) return;
    if (this.isPaused) this.#waiting.push(callback);
    else callback();
  }

  pause(kind: 'stopped' | 'asleep'): void {
    this.isPaused = true;
    if (kind === 'asleep') {
      this.hasSlept = true;
      this.#asleepSinceMs = this.#world.monotonicMs();
    }
  }

  resume(): void {
    if (this.#asleepSinceMs !== undefined) this.#sleptMs += this.#world.monotonicMs() - this.#asleepSinceMs;
    this.#asleepSinceMs = undefined;
    this.isPaused = false;
    this.lastDisturbedMs = this.#world.monotonicMs();
    for (const callback of this.#waiting.splice(0)) this.enter(callback);
  }

  kill(): void {
    this.isDead = true;
    this.#waiting = [];
  }

  /** Steps the wall clock. */
  stepWall(byMs: number): void {
    this.#wallStepMs += byMs;
    this.lastDisturbedMs = this.#world.monotonicMs();
  }

  readonly clock: Clock = {
    now: () => {
      const { rate, wallOffsetMs } = this.#clock;
      return Math.floor(this.#world.now() + (rate - 1) * this.#world.monotonicMs() + wallOffsetMs + this.#wallStepMs);
    },
    monotonicMs: () => {
      const { rate, monotonicOffsetMs } = this.#clock;
      const awakeMs = (this.#asleepSinceMs ?? this.#world.monotonicMs()) - this.#sleptMs;
      return monotonicOffsetMs + rate * awakeMs;
    },
    after: (delayMs, callback) => this.#after(delayMs / this.#clock.rate, callback),
    soon: (callback) => this.#after(0, callback),
  };

  #after(delayMs: number, callback: () => void): Timer {
    let isCancelled = false;
    const timer = this.#world.after(delayMs, () => this.enter(() => (isCancelled ? undefined : callback())));
    return {
      cancel() {
        isCancelled = true;
        timer.cancel();
      },
    };
  }
}
