/** A header block in several frames: HEADERS, then CONTINUATION until its end, and nothing between. */

import { ConnectionError } from './errors.ts';
import { errorCode } from './protocol.ts';

/** The limit of the decoded headers, which compression only reduces: no legitimate client needs as much. */
const blockBytesMax = 64 * 1024;
/** Frames may be empty, so their bytes alone do not bound them. */
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
