/**
 * Notices a connection whose other end is gone without a word: a cut cable, a dead machine, a forgotten NAT entry. Nothing heard for
 * a while: a ping; no answer to it in time: it is dead, and everything on it is told. Also ends a connection that nobody has
 * used for long. Costs a timer, not something for every frame.
 */

import type { Clock, Timer } from '@hangar/core';

export interface KeepaliveOptions {
  readonly clock: Clock;
  /** Nothing heard for so long: ask. */
  readonly silenceMs: number;
  /** How long to wait for the answer. */
  readonly answerMs: number;
  /** Nothing asked for so long: end. */
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

  /** A request begins. */
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
      // Anything that came meanwhile is as good as an answer.
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
