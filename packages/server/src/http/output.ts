/** Writes to a sink with backpressure: at most one chunk beyond what the client reads is in memory. */

import type { Clock } from '@hangar/core';
import type { Sink } from './message.ts';
import { awaitTaken, writtenBytesMax } from './taking.ts';

export class Output {
  readonly #sink: Sink;
  #resume: (() => void) | undefined;
  isFull = false;
  /** No more data will be written. */
  isOver = false;
  /** The sink is closed: the client disconnected or the response finished. Implies `isOver`. */
  isClosed = false;

  constructor(sink: Sink) {
    this.#sink = sink;
    sink.onDrain(() => this.#goOn());
    sink.onClose(() => {
      this.isClosed = true;
      this.stop();
    });
  }

  stop(): void {
    this.isOver = true;
    this.#goOn();
  }

  #goOn(): void {
    this.isFull = false;
    this.#resume?.();
  }

  write(chunk: Uint8Array): void {
    if (!this.#sink.write(chunk)) this.isFull = true;
  }

  /** Resolves when there is room, and immediately after `stop`. */
  drained(): Promise<void> {
    if (this.isOver) return Promise.resolve();
    return new Promise((resolve) => (this.#resume = resolve));
  }

  /** Writes a piece as fast as the client reads. Aborts the response if the client is slower than `awaitTaken` allows. */
  async send(piece: Uint8Array, clock: Clock): Promise<void> {
    for (let at = 0; at < piece.length && !this.isOver; at += writtenBytesMax) {
      this.write(piece.length <= writtenBytesMax ? piece : piece.subarray(at, at + writtenBytesMax));
      if (this.isFull) await this.#taken(clock);
    }
  }

  /** Aborts the response, so that the client does not treat the written part as complete. */
  abort(): void {
    if (this.#sink.abort) this.#sink.abort();
    else this.#sink.end();
    this.stop();
  }

  async #taken(clock: Clock): Promise<void> {
    const left = (): number => this.#sink.waitingBytes?.() ?? 0;
    const cancel = awaitTaken(clock, { left, drop: () => this.abort() });
    await this.drained();
    cancel();
  }
}
