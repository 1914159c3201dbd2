/** Hands chunks from a writer to a reader that runs at the same time. Holds one chunk: the writer waits until it was read. */

export class Handover implements AsyncIterable<Uint8Array> {
  #chunk: Uint8Array | undefined;
  #isEnded = false;
  #isLeft = false;
  #wakeReader: (() => void) | undefined;
  #wakeWriter: (() => void) | undefined;

  /** One call at a time. Resolves when the chunk was read, or the reader has stopped. */
  async put(chunk: Uint8Array): Promise<void> {
    if (this.#isLeft) return;
    this.#chunk = chunk;
    this.#wakeReader?.();
    await new Promise<void>((resolve) => (this.#wakeWriter = resolve));
  }

  end(): void {
    this.#isEnded = true;
    this.#wakeReader?.();
  }

  /** Called when the reader stops. */
  leave(): void {
    this.#isLeft = true;
    this.#wakeWriter?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, void> {
    for (;;) {
      if (!this.#chunk) {
        if (this.#isEnded) return;
        await new Promise<void>((resolve) => (this.#wakeReader = resolve));
        continue;
      }
      yield this.#chunk;
      this.#chunk = undefined;
      this.#wakeWriter?.();
    }
  }
}
