/** Writing to a sink that waits: at most one chunk more than the other end takes is in memory. */

import type { Sink } from './message.ts';

export class Output {
  readonly #sink: Sink;
  #resume: (() => void) | undefined;
  isFull = false;
  /** Nothing more is to be written. */
  isOver = false;

  constructor(sink: Sink) {
    this.#sink = sink;
    sink.onDrain(() => this.#goOn());
    sink.onClose(() => this.stop());
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

  drained(): Promise<void> {
    return new Promise((resolve) => (this.#resume = resolve));
  }
}
