/**
 * The right to work, as long as it can be proven without news from the server: from before the last write that was accepted, for
 * the renew deadline. Others may take over only after the lease duration, which is longer: what is left between the two is for
 * clocks that run at different speeds.
 *
 * `signal` fires when it ends, or when it is asked to end; `check` throws only once it has ended, so that what is under way when
 * the process stops can be finished.
 */

import type { Clock, Timer } from '@hangar/core';
import type { Ownership } from '../clusters/contract.ts';
import { RuntimeError } from '../errors.ts';

export interface LeadershipOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly renewDeadlineMs: number;
  readonly token: number;
  /** Before the write that began it. */
  readonly sentAtMs: number;
  /** Called once, when it ended without being asked to. */
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

  /** How it ended without being asked to. */
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
    // A process that slept may be asked before its timer says so.
    if (leftMs <= 0) this.lose('it was not renewed in time');
    return Math.max(0, leftMs);
  }

  /** The lease was renewed by a write that was sent then. Too late is no renewal: somebody may have been told that it ended. */
  prolong(sentAtMs: number): void {
    if (this.remainingMs() === 0) return;
    this.#validUntilMs = Math.max(this.#validUntilMs, sentAtMs + this.#options.renewDeadlineMs);
    this.#arm();
  }

  /** Asks for the end of the work; the right itself lasts. */
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

  /** It was given back in good order: no check passes, no timer is left. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  #arm(): void {
    this.#timer?.cancel();
    const leftMs = this.#validUntilMs - this.#options.clock.monotonicMs();
    this.#timer = this.#options.clock.after(Math.max(0, Math.ceil(leftMs)), () => {
      // Timers can fire a moment before the clock says so.
      if (this.remainingMs() > 0) this.#arm();
    });
  }
}
