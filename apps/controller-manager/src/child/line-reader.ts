/** Takes pieces and gives lines, one at a time. Keeps of a line that is not whole yet no more than is told of it. */

const newline = 0x0a;

export interface Line {
  readonly bytes: Buffer;
  /** It was longer. */
  readonly isCut: boolean;
}

export class LineReader {
  readonly #bytesMax: number;
  /** Of a line whose end has not come. */
  #parts: Buffer[] = [];
  #length = 0;
  /** Not looked at yet. */
  #rest: Buffer | undefined;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  add(chunk: Buffer): void {
    this.#rest = this.#rest ? Buffer.concat([this.#rest, chunk]) : chunk;
  }

  /** The next that is whole. Undefined: there is none, and nothing is left to be looked at. */
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

  /** What came behind the last newline, if anything did. After `next`. */
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
    // A copy: a short rest must not keep the whole chunk alive.
    if (room > 0 && part.length > 0) this.#parts.push(Buffer.from(part.subarray(0, room)));
  }
}
