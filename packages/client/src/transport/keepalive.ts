/**
 * Detects connections whose peer vanished silently: a cut cable, a dead machine, an expired NAT entry. After a time of silence it sends a
 * ping; without a response in time, the connection is dead, and all its requests fail. Also closes idle connections. Costs one timer, and
 * no work for each frame.
 */

import type { Clock, Timer } from '@hangar/core';

export interface KeepaliveOptions {
  readonly clock: Clock;
  /** Silence before a ping. */
  readonly silenceMs: number;
  /** Timeout of the ping. */
  readonly answerMs: number;
  /** Idle time before the connection is closed. */
  readonly idleMs: number;
  readonly isUsed: () => boolean;
  readonly ping: (onAnswer: () => void) => void;
  readonly onDead: (error: Error) => void;
  readonly onIdle: () => void;
}

export class Keepalive {
  readonly #options: KeepaliveOptions;
  #heardMs: number;
  #usedMs: number;
  #timer: Timer;
  #isStopped = false;

  constructor(options: KeepaliveOptions) {
    this.#options = options;
    this.#heardMs = this.#usedMs = options.clock.monotonicMs();
    this.#timer = this.#check(options.silenceMs);
  }

  heard(): void {
    this.#heardMs = this.#options.clock.monotonicMs();
  }

  /** Called when a request starts. */
  used(): void {
    this.#usedMs = this.#options.clock.monotonicMs();
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer.cancel();
  }

  #check(afterMs: number): Timer {
    return this.#options.clock.after(afterMs, () => this.#look());
  }

  #look(): void {
    const { clock, silenceMs, idleMs, isUsed } = this.#options;
    const nowMs = clock.monotonicMs();
    if (isUsed()) this.#usedMs = nowMs;
    else if (nowMs - this.#usedMs >= idleMs) return this.#options.onIdle();
    const leftMs = this.#heardMs + silenceMs - nowMs;
    if (leftMs > 0) this.#timer = this.#check(leftMs);
    else this.#ask();
  }

  #ask(): void {
    const { clock, answerMs, silenceMs, ping, onDead } = this.#options;
    const askedMs = clock.monotonicMs();
    this.#timer = clock.after(answerMs, () => {
      // Any received data counts as a response.
      if (this.#heardMs > askedMs) this.#timer = this.#check(silenceMs);
      else onDead(new Error(`the server did not answer a ping within ${answerMs} ms`));
    });
    ping(() => {
      if (this.#isStopped) return;
      this.#timer.cancel();
      this.#timer = this.#check(silenceMs);
    });
  }
}
