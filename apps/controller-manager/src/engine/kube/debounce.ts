/**
 * Several changes, one restart: they are over when there was none for a while, or when they have gone on for ten times as long. Who changes
 * again and again has to wait longer each time, until what was started of it has been at work for a while: a kubeconfig that flaps
 * does not keep the machine busy with starting programs.
 */

import type { Clock, Timer } from '@hangar/core';

export interface DebounceOptions {
  readonly clock: Clock;
  readonly quietMs: number;
  readonly settled: () => void;
}

/** Of the quiet time, how long a burst may go on. */
const burstFactor = 10;
/** So often at the usual pace. */
const freeBursts = 3;
const wideningMax = 64;

export class Debounce {
  readonly #options: DebounceOptions;
  #burst: { readonly endMs: number; timer: Timer } | undefined;
  /** How many there were since `calm`. */
  #bursts = 0;

  constructor(options: DebounceOptions) {
    this.#options = options;
  }

  /** There was a change. */
  poke(): void {
    const { clock } = this.#options;
    const quietMs = this.#options.quietMs * this.#widening();
    const endMs = this.#burst?.endMs ?? clock.monotonicMs() + quietMs * burstFactor;
    this.#burst?.timer.cancel();
    const leftMs = Math.max(0, Math.min(quietMs, endMs - clock.monotonicMs()));
    this.#burst = { endMs, timer: clock.after(leftMs, () => this.#settle()) };
  }

  /** It is as before after all, or nobody cares. */
  cancel(): void {
    this.#burst?.timer.cancel();
    this.#burst = undefined;
  }

  /** There was one, and it is not known yet whether it was the last. */
  get isPending(): boolean {
    return this.#burst !== undefined;
  }

  /** What was started of them is at work: changes of before no longer count, unless they go on. */
  calm(): void {
    if (!this.#burst) this.#bursts = 0;
  }

  #settle(): void {
    this.#burst = undefined;
    this.#bursts++;
    this.#options.settled();
  }

  #widening(): number {
    return Math.min(wideningMax, 2 ** Math.max(0, this.#bursts - freeBursts));
  }
}
