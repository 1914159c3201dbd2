/**
 * Buffer of received pieces. The peer chooses the size of pieces, and each costs over a hundred bytes of overhead, so small ones are copied
 * into chunks and large ones are kept as they are.
 */

/** Pieces of at least this size are kept as separate objects. */
const smallBytesMax = 1024;
const chunkBytesMin = 4 * 1024;
const chunkBytesMax = 64 * 1024;
const none = Buffer.alloc(0);

export class Pieces {
  #closed: Buffer[] = [];
  /** Chunk for small pieces: `#start` to `#end` holds those written since the last large one. */
  #chunk = none;
  #start = 0;
  #end = 0;
  length = 0;

  add(piece: Buffer): void {
    this.length += piece.length;
    // Most bodies are one piece.
    if (piece.length >= smallBytesMax || this.length === piece.length) {
      this.#close();
      this.#closed.push(piece);
      return;
    }
    if (this.#chunk.length - this.#end < piece.length) this.#grow();
    this.#end += piece.copy(this.#chunk, this.#end);
  }

  /** Returns the pieces in order and empties the buffer. */
  take(): readonly Buffer[] {
    this.#close();
    const pieces = this.#closed;
    this.clear();
    return pieces;
  }

  /** Returns all bytes as one array and empties the buffer. */
  takeWhole(): Uint8Array {
    const { length } = this;
    const pieces = this.take();
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces, length);
  }

  clear(): void {
    this.#closed = [];
    this.#chunk = none;
    this.#start = 0;
    this.#end = 0;
    this.length = 0;
  }

  #close(): void {
    if (this.#end > this.#start) this.#closed.push(this.#chunk.subarray(this.#start, this.#end));
    this.#start = this.#end;
  }

  /** Allocates no more than was already received, so that a short body stays cheap. */
  #grow(): void {
    this.#close();
    this.#chunk = Buffer.allocUnsafeSlow(Math.min(chunkBytesMax, Math.max(chunkBytesMin, this.length)));
    this.#start = 0;
    this.#end = 0;
  }
}
