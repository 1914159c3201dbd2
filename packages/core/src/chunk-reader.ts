/** Reads a stream of chunks of any size in pieces of the requested size. Holds one piece and one chunk in memory. */

export class ChunkReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Returns exactly `length` bytes; undefined if the stream has fewer. */
  async take(length: number): Promise<Buffer | undefined> {
    const pieces = [this.#rest];
    let have = this.#rest.length;
    while (have < length) {
      const { done, value } = await this.#chunks.next();
      if (done) return undefined;
      pieces.push(Buffer.from(value.buffer, value.byteOffset, value.length));
      have += value.length;
    }
    const all = pieces.length === 1 ? this.#rest : Buffer.concat(pieces);
    this.#rest = all.subarray(length);
    return all.subarray(0, length);
  }

  /** Reports whether all bytes were taken. */
  async isEmpty(): Promise<boolean> {
    if (this.#rest.length > 0) return false;
    for (;;) {
      const { done, value } = await this.#chunks.next();
      if (done) return true;
      if (value.length > 0) {
        this.#rest = Buffer.from(value.buffer, value.byteOffset, value.length);
        return false;
      }
    }
  }

  /** Stops reading: the source releases its file or connection. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }
}
