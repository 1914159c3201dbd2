/** Reads a stream of chunks of any size in pieces of the requested size. Holds one piece and one chunk in memory. */

export class ChunkReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Returns exactly `length` bytes; undefined if the stream has fewer. */
  async take(length: number): Promise<Buffer | undefined> {
    if (length <= this.#rest.length) {
      const taken = this.#rest.subarray(0, length);
      this.#rest = this.#rest.subarray(length);
      return taken;
    }
    // Not allocated before the bytes arrive: the length may be a false claim.
    const pieces = [this.#rest];
    let have = this.#rest.length;
    while (have < length) {
      const piece = await this.#next();
      if (!piece) return undefined;
      pieces.push(piece);
      have += piece.length;
    }
    const all = Buffer.concat(pieces);
    this.#rest = all.subarray(length);
    return all.subarray(0, length);
  }

  /** Fills the target; returns false if the stream has fewer bytes. Allocates nothing, so it is for targets that are used again. */
  async fill(target: Uint8Array): Promise<boolean> {
    for (let filled = 0; filled < target.length;) {
      if (this.#rest.length === 0) {
        const piece = await this.#next();
        if (!piece) return false;
        this.#rest = piece;
      }
      const part = this.#rest.subarray(0, target.length - filled);
      target.set(part, filled);
      this.#rest = this.#rest.subarray(part.length);
      filled += part.length;
    }
    return true;
  }

  async #next(): Promise<Buffer | undefined> {
    const { done, value } = await this.#chunks.next();
    return done ? undefined : Buffer.from(value.buffer, value.byteOffset, value.length);
  }

  /** Reports whether all bytes were taken. */
  async isEmpty(): Promise<boolean> {
    if (this.#rest.length > 0) return false;
    for (;;) {
      const piece = await this.#next();
      if (!piece) return true;
      if (piece.length > 0) {
        this.#rest = piece;
        return false;
      }
    }
  }

  /** Makes `return` of a stream that reads from here close this reader. A generator that was not started has no `finally` to do it. */
  closedBy<T>(stream: AsyncGenerator<T, void, void>): AsyncGenerator<T, void, void> {
    const end = stream.return.bind(stream);
    stream.return = async (value) => {
      const result = await end(value);
      await this.close();
      return result;
    };
    return stream;
  }

  /** Stops reading: the source releases its file or connection. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }
}
