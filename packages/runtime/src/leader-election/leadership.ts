/**
 * The right to work as the leader, for as long as it can be proven without the server: the renew deadline, counted from before the last
 * accepted write. Other processes take over only after the lease duration, which is longer: the difference allows for clocks with different
 * rates.
 *
 * `signal` is aborted when the leadership is lost, or when `stop` is called; `check` throws only after it is lost, so that running work can
 * finish while the process stops.
 */

import type { Clock, Timer } from '@hangar/core';
import type { Ownership } from '../clusters/contract.ts';
import { RuntimeError } from '../errors.ts';

export interface LeadershipOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly renewDeadlineMs: number;
  readonly token: number;
  /** Time before the write that started it. */
  readonly sentAtMs: number;
  /** Called once when the leadership is lost. */
  readonly onLost: () => void;
}

export class Leadership implements Ownership {
  readonly token: number;
  readonly #options: LeadershipOptions;
  readonly #ended = new AbortController();
  #validUntilMs: number;
  #lost: RuntimeError | undefined;
  #isClosed = false;
  #timer: Timer | undefined;

  constructor(options: LeadershipOptions) {
    this.#options = options;
    this.token = options.token;
    this.#validUntilMs = options.sentAtMs + options.renewDeadlineMs;
    this.#arm();
  }

  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** The error with which the leadership was lost. */
  get lost(): RuntimeError | undefined {
    return this.#lost;
  }

  check(): void {
    if (this.remainingMs() > 0) return;
    throw new RuntimeError('Fenced', `the lease ${this.#options.name} may no longer be held`);
  }

  remainingMs(): number {
    if (this.#lost || this.#isClosed) return 0;
    const leftMs = this.#validUntilMs - this.#options.clock.monotonicMs();
    // After a sleep, `check` may be called before the timer fires.
    if (leftMs <= 0) this.lose('it was not renewed in time');
    return Math.max(0, leftMs);
  }

  /**
   * Called when the lease was renewed by a write that was sent at this time. A late renewal has no effect: callers may have been notified
   * of the loss.
   */
  prolong(sentAtMs: number): void {
    if (this.remainingMs() === 0) return;
    this.#validUntilMs = Math.max(this.#validUntilMs, sentAtMs + this.#options.renewDeadlineMs);
    this.#arm();
  }

  /** Aborts the signal; the right itself lasts. */
  stop(reason: unknown): void {
    this.#ended.abort(reason);
  }

  lose(why: string): void {
    if (this.#lost) return;
    this.#lost = new RuntimeError('LeadershipLost', `leader election lost: lease ${this.#options.name}: ${why}`);
    this.#timer?.cancel();
    this.#options.onLost();
    this.#ended.abort(this.#lost);
  }

  /** Ends the right after a release: `check` throws, and no timer is left. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  #arm(): void {
    this.#timer?.cancel();
    const leftMs = this.#validUntilMs - this.#options.clock.monotonicMs();
    this.#timer = this.#options.clock.after(Math.max(0, Math.ceil(leftMs)), () => {
      // Timers can fire slightly early.
      if (this.remainingMs() > 0) this.#arm();
    });
  }
}
