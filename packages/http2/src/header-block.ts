/** A block of headers that comes in several frames: HEADERS, then CONTINUATION until its end, and nothing between. */

import { ConnectionError } from './errors.ts';
import { errorCode } from './protocol.ts';

/** As long as what is allowed to come out of it, less what compression saves: nobody honest needs as much. */
const blockBytesMax = 64 * 1024;
/** Frames may be empty, so their bytes alone bound nothing. */
const framesMax = 64;

export class HeaderBlock {
  readonly streamId: number;
  readonly isLast: boolean;
  readonly #pieces: Buffer[] = [];
  #length = 0;

  constructor(streamId: number, isLast: boolean) {
    this.streamId = streamId;
    this.isLast = isLast;
  }

  add(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#length += piece.length;
    if (this.#length > blockBytesMax || this.#pieces.length > framesMax) {
      throw new ConnectionError(errorCode.enhanceYourCalm, 'a header block exceeds its limit');
    }
  }

  bytes(): Buffer {
    return Buffer.concat(this.#pieces, this.#length);
  }
}
