/**
 * Aborts a watch that must be dead: open for longer than the requested timeout, or silent while events are expected. Without it, a
 * connection that broke silently would be waited for forever.
 */

import { ClientError } from '@hangar/client';
import type { Clock, Timer } from '@hangar/core';

export interface WatchGuardOptions {
  readonly clock: Clock;
  /** Parent signal. */
  readonly signal: AbortSignal;
  readonly lifetimeMs: number;
  /** Absent: no limit on silence. */
  readonly silenceMs?: number | undefined;
}

export class WatchGuard {
  readonly #clock: Clock;
  readonly #outer: AbortSignal;
  readonly #controller = new AbortController();
  readonly #onAbort = (): void => this.#controller.abort(this.#outer.reason);
  readonly #endMs: number;
  #silenceMs: number;
  #heardMs: number;
  #timer: Timer | undefined;
  #reason: Error | undefined;

  constructor({ clock, signal, lifetimeMs, silenceMs = Infinity }: WatchGuardOptions) {
    this.#clock = clock;
    this.#outer = signal;
    this.#heardMs = clock.monotonicMs();
    this.#endMs = this.#heardMs + lifetimeMs;
    this.#silenceMs = silenceMs;
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener('abort', this.#onAbort, { once: true });
    this.#wait(this.#heardMs);
  }

  /** Signal for the watch. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Reason of the abort; undefined when it was not aborted. */
  get reason(): Error | undefined {
    return this.#reason;
  }

  heard(): void {
    this.#heardMs = this.#clock.monotonicMs();
  }

  /** Stops the silence timeout. */
  allowSilence(): void {
    this.#silenceMs = Infinity;
  }

  close(): void {
    this.#timer?.cancel();
    this.#outer.removeEventListener('abort', this.#onAbort);
  }

  #wait(nowMs: number): void {
    const dueMs = Math.min(this.#endMs, this.#heardMs + this.#silenceMs);
    this.#timer = this.#clock.after(Math.max(0, dueMs - nowMs), () => this.#check());
  }

  #check(): void {
    const nowMs = this.#clock.monotonicMs();
    const silentMs = nowMs - this.#heardMs;
    if (nowMs < this.#endMs && silentMs < this.#silenceMs) return this.#wait(nowMs);
    this.#reason = new ClientError('TimedOut', `the watch received nothing for ${Math.round(silentMs / 1_000)} s`);
    this.#controller.abort(this.#reason);
  }
}
