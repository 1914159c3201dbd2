/**
 * Bytes that come in pieces, kept until somebody takes them. The other end chooses the pieces: each costs a hundred bytes and
 * more besides its own, so small ones are copied behind each other, and large ones are kept as they are.
 */

/** From here on a piece is worth its own object. */
const smallBytesMax = 1024;
const chunkBytesMin = 4 * 1024;
const chunkBytesMax = 64 * 1024;
const none = Buffer.alloc(0);

export class Pieces {
  #closed: Buffer[] = [];
  /** Where small pieces go: from `#start` to `#end` is what was written since the last large one. */
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

  /** In order; afterwards nothing is here. */
  take(): readonly Buffer[] {
    this.#close();
    const pieces = this.#closed;
    this.clear();
    return pieces;
  }

  /** As one; afterwards nothing is here. */
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

  /** No more is allocated than has come already, so that a short body stays cheap. */
  #grow(): void {
    this.#close();
    this.#chunk = Buffer.allocUnsafeSlow(Math.min(chunkBytesMax, Math.max(chunkBytesMin, this.length)));
    this.#start = 0;
    this.#end = 0;
  }
}
