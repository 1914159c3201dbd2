/**
 * Detects a connection that is open but unresponsive. While calls are in progress and nothing arrives, it pings; without an answer in time
 * it closes the connection.
 *
 * A gRPC server in Go disconnects clients that ping too often. It tolerates every ping that follows a frame it sent itself, and otherwise
 * requires five seconds between them (etcd's `--grpc-keepalive-min-time`).
 */

import type { Clock, Timer } from '@hangar/core';

export interface KeepaliveOptions {
  clock: Clock;
  /** Ping after this time without a frame. */
  silenceMs: number;
  /** Give up when the answer to a ping takes longer. */
  answerMs: number;
  ping(onAnswer: () => void): void;
  giveUp(): void;
}

const unprovokedPingsApartMs = 6_000;

export class Keepalive {
  readonly #options: KeepaliveOptions;
  #calls = 0;
  #heardMs = 0;
  #heardSincePing = true;
  #pingedMs = -Infinity;
  #timer: Timer | undefined;

  constructor(options: KeepaliveOptions) {
    this.#options = options;
  }

  callBegan(): void {
    if (this.#calls++ > 0) return;
    this.#heardMs = this.#options.clock.monotonicMs();
    if (!this.#timer) this.#lookAfter(this.#options.silenceMs);
  }

  callEnded(): void {
    this.#calls--;
  }

  heard(): void {
    this.#heardMs = this.#options.clock.monotonicMs();
    this.#heardSincePing = true;
  }

  stop(): void {
    this.#calls = 0;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #lookAfter(delayMs: number): void {
    this.#timer = this.#options.clock.after(delayMs, () => this.#look());
  }

  #look(): void {
    this.#timer = undefined;
    if (this.#calls === 0) return;
    const { clock, silenceMs } = this.#options;
    const nowMs = clock.monotonicMs();
    const dueMs = Math.max(
      this.#heardMs + silenceMs,
      this.#heardSincePing ? 0 : this.#pingedMs + unprovokedPingsApartMs,
    );
    if (dueMs > nowMs) this.#lookAfter(dueMs - nowMs);
    else this.#ping(nowMs);
  }

  #ping(nowMs: number): void {
    const { clock, answerMs, silenceMs } = this.#options;
    this.#pingedMs = nowMs;
    this.#heardSincePing = false;
    let answered = false;
    this.#options.ping(() => {
      answered = true;
      this.#heardMs = clock.monotonicMs();
    });
    this.#timer = clock.after(answerMs, () => {
      // After a long block the process runs its timers first: read the data that has arrived before deciding.
      this.#timer = clock.soon(() => {
        this.#timer = clock.soon(() => {
          this.#timer = undefined;
          if (!answered && !this.#heardSincePing) this.#options.giveUp();
          else if (this.#calls > 0) this.#lookAfter(silenceMs);
        });
      });
    });
  }
}
