/**
 * Splits bytes into lines. A line within one chunk is not copied, one that spans several is copied once, and a skipped line is not stored.
 * Lines above the maximum length are rejected, to bound the memory.
 */

import { Buffer } from 'node:buffer';
import { ClientError } from '@hangar/client';

const newline = 10;
/** Maximum size of one object. Servers limit objects to a few MB; as JSON they may be several times as large. */
const lineBytesMax = 64 * 1024 * 1024;
const nothing = Buffer.alloc(0);

export class ByteLines {
  readonly #bytesMax: number;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #isSkipped = false;

  constructor(bytesMax: number = lineBytesMax) {
    this.#bytesMax = bytesMax;
  }

  /** Skips the content of the next line: it will be empty. Call it when a line was taken. */
  skipNext(): void {
    this.#isSkipped = true;
  }

  /** Calls `take` with each complete line, without its terminator. The line is a view of the chunk: keeping it keeps the whole chunk. */
  push(chunk: Uint8Array, take: (line: Buffer) => void): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let from = 0;
    for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, from)) {
      const line = this.#ended(bytes.subarray(from, at));
      from = at + 1;
      take(line);
    }
    if (from < bytes.length) this.#keep(bytes.subarray(from));
  }

  #ended(last: Buffer): Buffer {
    if (this.#isSkipped) {
      this.#isSkipped = false;
      return nothing;
    }
    if (this.#pieces.length === 0) return last;
    const line = Buffer.concat([...this.#pieces, last], this.#bytes + last.length);
    this.#pieces = [];
    this.#bytes = 0;
    return line;
  }

  #keep(piece: Buffer): void {
    if (this.#isSkipped) return;
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes <= this.#bytesMax) return;
    this.#pieces = [];
    throw new ClientError('MalformedAnswer', `the tenant feed has a line of more than ${this.#bytesMax} bytes`);
  }
}
