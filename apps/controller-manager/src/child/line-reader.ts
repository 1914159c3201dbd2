/** Splits chunks into lines. The part of a line beyond the maximum length is dropped, also while the line is incomplete. */

const newline = 0x0a;

export interface Line {
  readonly bytes: Buffer;
  /** The line was longer. */
  readonly isCut: boolean;
}

export class LineReader {
  readonly #bytesMax: number;
  /** Chunks of an incomplete line. */
  #parts: Buffer[] = [];
  #length = 0;
  /** Not scanned yet. */
  #rest: Buffer | undefined;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  add(chunk: Buffer): void {
    this.#rest = this.#rest ? Buffer.concat([this.#rest, chunk]) : chunk;
  }

  /** Returns the next complete line. Undefined: there is none, and all input is scanned. */
  next(): Line | undefined {
    const rest = this.#rest;
    if (!rest) return undefined;
    const at = rest.indexOf(newline);
    if (at === -1) {
      this.#keep(rest);
      this.#rest = undefined;
      return undefined;
    }
    this.#rest = at + 1 < rest.length ? rest.subarray(at + 1) : undefined;
    if (this.#length > 0) {
      this.#keep(rest.subarray(0, at));
      return this.last();
    }
    return { bytes: rest.subarray(0, Math.min(at, this.#bytesMax)), isCut: at > this.#bytesMax };
  }

  /** Returns the text behind the last newline, if any. Called after `next`. */
  last(): Line | undefined {
    if (this.#length === 0) return undefined;
    const line = { bytes: Buffer.concat(this.#parts), isCut: this.#length > this.#bytesMax };
    this.#parts = [];
    this.#length = 0;
    return line;
  }

  #keep(part: Buffer): void {
    const room = Math.max(0, this.#bytesMax - this.#length);
    this.#length += part.length;
    // A copy: a short slice must not keep the whole chunk in memory.
    if (room > 0 && part.length > 0) this.#parts.push(Buffer.from(part.subarray(0, room)));
  }
}
