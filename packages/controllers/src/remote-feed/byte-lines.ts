/**
 * Bytes as lines of bytes, whatever the pieces they come in. A line that is within one piece is not copied, one that is in several is
 * copied once, and one that nobody wants is not kept at all. A line has an end, or the memory would: longer ones are refused.
 */

import { Buffer } from 'node:buffer';
import { ClientError } from '@hangar/client';

const newline = 10;
/** Of one object. Servers bound them to a few MB; encoded as JSON they may be some times as large. */
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

  /** Nobody wants to know what is in the line that comes next: it will be empty. To be called when a line was taken. */
  skipNext(): void {
    this.#isSkipped = true;
  }

  /** Calls back with each line that ends here, without its end. It is a part of what was pushed: whoever keeps it keeps all of that. */
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
