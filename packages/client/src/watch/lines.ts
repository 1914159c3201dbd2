/** Splits bytes into lines. Longer lines than the maximum are `MalformedAnswer`, to bound the memory. */

import { ClientError } from '../errors.ts';

const newline = 10;
/** Maximum size of one event. Servers limit objects to a few MB; as JSON they may be several times as large. */
const lineBytesMax = 64 * 1024 * 1024;

export class LineSplitter {
  readonly #bytesMax: number;
  #rest: Buffer[] = [];
  #restBytes = 0;

  constructor(bytesMax: number = lineBytesMax) {
    this.#bytesMax = bytesMax;
  }

  /** Returns the lines that this chunk completes, without terminators. */
  push(chunk: Uint8Array): string[] {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const lines: string[] = [];
    let from = 0;
    for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, from)) {
      lines.push(this.#restBytes === 0 ? bytes.toString('utf8', from, at) : this.#joined(bytes.subarray(from, at)));
      from = at + 1;
    }
    if (from < bytes.length) this.#keep(bytes.subarray(from));
    return lines;
  }

  /** Returns the data after the last line terminator. */
  rest(): string {
    return this.#joined(Buffer.alloc(0));
  }

  #keep(piece: Buffer): void {
    this.#rest.push(piece);
    this.#restBytes += piece.length;
    if (this.#restBytes <= this.#bytesMax) return;
    this.#rest = [];
    throw new ClientError('MalformedAnswer', `a watch event is larger than ${this.#bytesMax} bytes`);
  }

  #joined(last: Buffer): string {
    const line = Buffer.concat([...this.#rest, last], this.#restBytes + last.length).toString();
    this.#rest = [];
    this.#restBytes = 0;
    return line;
  }
}
