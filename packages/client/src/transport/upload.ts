/** Sends the chunks of a request body one after the other: the next chunk is read when the last one was written. */

import { asError } from '@hangar/core';

export interface UploadTarget {
  /** `onWritten`: called when the next chunk can be written. */
  write(chunk: Uint8Array, onWritten: () => void): void;
  /** The body is complete. */
  end(): void;
  /** The body failed: the request must be aborted, so that the server does not take a part for the whole. */
  fail(error: Error): void;
}

export class Upload {
  readonly #chunks: AsyncIterable<Uint8Array>;
  readonly #target: UploadTarget;
  #isStopped = false;
  #wake: (() => void) | undefined;

  constructor(chunks: AsyncIterable<Uint8Array>, target: UploadTarget) {
    this.#chunks = chunks;
    this.#target = target;
  }

  start(): void {
    void this.#run();
  }

  /** Called when the request is over: the rest is not read. */
  stop(): void {
    this.#isStopped = true;
    this.#wake?.();
  }

  async #run(): Promise<void> {
    try {
      for await (const chunk of this.#chunks) {
        if (this.#isStopped) return;
        if (chunk.length > 0) await this.#written(chunk);
        if (this.#isStopped) return;
      }
      this.#target.end();
    } catch (error) {
      if (!this.#isStopped) this.#target.fail(asError(error));
    }
  }

  #written(chunk: Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      this.#target.write(chunk, resolve);
    });
  }
}
