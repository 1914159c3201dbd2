/**
 * Combines several changes into one restart: they are settled when there was none for the quiet time, or after ten times as long. The quiet
 * time grows with every burst, until the started program has run for a while: a flapping kubeconfig does not cause constant restarts.
 */

import type { Clock, Timer } from '@hangar/core';

export interface DebounceOptions {
  readonly clock: Clock;
  readonly quietMs: number;
  readonly settled: () => void;
}

/** Maximum duration of a burst, in quiet times. */
const burstFactor = 10;
/** Number of bursts before the quiet time grows. */
const freeBursts = 3;
const wideningMax = 64;

export class Debounce {
  readonly #options: DebounceOptions;
  #burst: { readonly endMs: number; timer: Timer } | undefined;
  /** Number of bursts since `calm`. */
  #bursts = 0;

  constructor(options: DebounceOptions) {
    this.#options = options;
  }

  /** Called on every change. */
  poke(): void {
    const { clock } = this.#options;
    const quietMs = this.#options.quietMs * this.#widening();
    const endMs = this.#burst?.endMs ?? clock.monotonicMs() + quietMs * burstFactor;
    this.#burst?.timer.cancel();
    const leftMs = Math.max(0, Math.min(quietMs, endMs - clock.monotonicMs()));
    this.#burst = { endMs, timer: clock.after(leftMs, () => this.#settle()) };
  }

  /** Discards the pending change: it was reverted, or is irrelevant. */
  cancel(): void {
    this.#burst?.timer.cancel();
    this.#burst = undefined;
  }

  /** Reports whether a change is not settled yet. */
  get isPending(): boolean {
    return this.#burst !== undefined;
  }

  /** Called when the started program has run for a while: resets the count of bursts, unless a change is pending. */
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
