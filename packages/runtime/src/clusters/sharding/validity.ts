/**
 * The time until which this life of the peer is valid for the other peers. Counted from before the last successful renewal was sent; ends
 * for good when another process has taken the lease.
 */

import type { Clock } from '@hangar/core';
import type { Protocol } from './protocol.ts';
import type { ShardTimings } from './timings.ts';

/** A moment on both clocks. */
export interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

export const momentOf = (clock: Clock): Moment => ({ monotonicMs: clock.monotonicMs(), wallMs: clock.now() });

export class Validity {
  readonly #clock: Clock;
  readonly #protocol: Protocol;
  readonly #timings: ShardTimings;
  #sent: Moment | undefined;
  #lastsMs = 0;
  /** Since the renewal was sent: the lowest lead of the wall clock over the monotonic clock, and the largest rise above the lowest. */
  #leadMinMs = 0;
  #riseMaxMs = 0;
  #isLapsed = false;
  #isEnded = false;

  constructor(clock: Clock, protocol: Protocol, timings: ShardTimings) {
    this.#clock = clock;
    this.#protocol = protocol;
    this.#timings = timings;
  }

  /** Called when a renewal that was sent at this time succeeded. */
  renewed(sent: Moment): void {
    this.#sent = sent;
    this.#isLapsed = false;
    this.#leadMinMs = 0;
    this.#riseMaxMs = 0;
    const renewal = { sentMs: sent.monotonicMs, answeredMs: this.#clock.monotonicMs() };
    this.#lastsMs = this.#protocol.validUntilMs(renewal, this.#timings) - sent.monotonicMs;
    this.#elapsedMs(sent);
  }

  /** Ends the validity for good. */
  end(): void {
    this.#isEnded = true;
  }

  /** Returns 0 when the lease cannot be proven, until it is renewed, even if a clock is set back. */
  remainingMs(): number {
    if (this.#isEnded || this.#isLapsed || !this.#sent) return 0;
    const elapsedMs = this.#elapsedMs(this.#sent);
    this.#isLapsed = elapsedMs >= this.#lastsMs;
    return this.#isLapsed ? 0 : this.#lastsMs - elapsedMs;
  }

  /**
   * Returns the time since the renewal was sent. A wall clock that is set back must not hide a later sleep, and a sleep that was seen
   * must not be hidden by a later step back: the sleep is the largest rise of the wall clock against the monotonic clock.
   */
  #elapsedMs(sent: Moment): number {
    const monotonicMs = this.#clock.monotonicMs() - sent.monotonicMs;
    const leadMs = this.#clock.now() - sent.wallMs - monotonicMs;
    this.#leadMinMs = Math.min(this.#leadMinMs, leadMs);
    this.#riseMaxMs = Math.max(this.#riseMaxMs, leadMs - this.#leadMinMs);
    return this.#protocol.elapsedMs(monotonicMs, monotonicMs + this.#riseMaxMs);
  }
}
