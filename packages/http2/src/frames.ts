/**
 * Reads frames from the bytes of a socket, and writes them:
 *
 *     | length 24 | type 8 | flags 8 | 0 | stream 31 | payload … |
 *
 * A frame within one chunk is passed on without a copy. Any other is assembled once in a buffer of its size: pieces of a byte each cost no
 * more than one large piece.
 */

import { ConnectionError } from './errors.ts';
import { errorCode, frameBytesMin } from './protocol.ts';

export const frameHeadBytes = 9;
/** SETTINGS_MAX_FRAME_SIZE keeps its default: a larger frame would only need more memory until it is complete. */
const payloadBytesMax = frameBytesMin;

/** The payload is `bytes` from `start` to `end`; the callee owns it. */
export type OnFrame = (
  type: number,
  flags: number,
  streamId: number,
  bytes: Buffer,
  start: number,
  end: number,
) => void;

export class FrameReader {
  readonly #onFrame: OnFrame;
  #partial: Buffer | undefined;
  #filled = 0;

  constructor(onFrame: OnFrame) {
    this.#onFrame = onFrame;
  }

  /** Type of the incomplete frame; -1 while its head is incomplete, undefined between frames. */
  get partialType(): number | undefined {
    if (this.#partial === undefined) return undefined;
    return this.#filled < frameHeadBytes ? -1 : this.#partial[3]!;
  }

  /** Errors of `onFrame` are thrown: the rest of the chunk is lost, so nothing may be fed afterwards. */
  feed(chunk: Buffer): void {
    let at = this.#partial === undefined ? 0 : this.#fill(this.#partial, chunk);
    while (chunk.length - at >= frameHeadBytes) {
      const end = at + frameHeadBytes + payloadLength(chunk, at);
      if (end > chunk.length) break;
      this.#deliver(chunk, at, end);
      at = end;
    }
    if (at < chunk.length) this.#keep(chunk, at);
  }

  #keep(chunk: Buffer, at: number): void {
    const has = chunk.length - at;
    const length = has < frameHeadBytes ? frameHeadBytes : frameHeadBytes + payloadLength(chunk, at);
    this.#partial = Buffer.allocUnsafe(length);
    this.#filled = chunk.copy(this.#partial, 0, at);
  }

  /** Returns the number of bytes of the chunk that belong to the incomplete frame. */
  #fill(partial: Buffer, chunk: Buffer): number {
    let taken = chunk.copy(partial, this.#filled);
    this.#filled += taken;
    if (this.#filled < partial.length) return taken;
    const whole = frameHeadBytes + payloadLength(partial, 0);
    if (whole > partial.length) {
      // Until now only its head was needed.
      this.#partial = Buffer.allocUnsafe(whole);
      partial.copy(this.#partial);
      const more = chunk.copy(this.#partial, frameHeadBytes, taken);
      taken += more;
      this.#filled += more;
      if (this.#filled < whole) return taken;
      partial = this.#partial;
    }
    this.#partial = undefined;
    this.#filled = 0;
    this.#deliver(partial, 0, whole);
    return taken;
  }

  #deliver(bytes: Buffer, at: number, end: number): void {
    const streamId = ((bytes[at + 5]! & 0x7f) << 24) | (bytes[at + 6]! << 16) | (bytes[at + 7]! << 8) | bytes[at + 8]!;
    this.#onFrame(bytes[at + 3]!, bytes[at + 4]!, streamId, bytes, at + frameHeadBytes, end);
  }
}

function payloadLength(bytes: Buffer, at: number): number {
  const length = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!;
  if (length > payloadBytesMax)
    throw new ConnectionError(errorCode.frameSize, 'a frame exceeds the maximum frame size');
  return length;
}

export interface FrameHead {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly length: number;
}

/** Returns the offset of the payload. */
export function writeFrameHead(to: Buffer, at: number, { type, flags, streamId, length }: FrameHead): number {
  to[at] = length >>> 16;
  to[at + 1] = length >>> 8;
  to[at + 2] = length;
  to[at + 3] = type;
  to[at + 4] = flags;
  to[at + 5] = streamId >>> 24;
  to[at + 6] = streamId >>> 16;
  to[at + 7] = streamId >>> 8;
  to[at + 8] = streamId;
  return at + frameHeadBytes;
}

export function frame(type: number, flags: number, streamId: number, payload: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(frameHeadBytes + payload.length);
  bytes.set(payload, writeFrameHead(bytes, 0, { type, flags, streamId, length: payload.length }));
  return bytes;
}

/** A frame whose payload is one number of 32 bits: RST_STREAM, WINDOW_UPDATE. */
export function numberFrame(type: number, streamId: number, value: number): Buffer {
  const bytes = Buffer.allocUnsafe(frameHeadBytes + 4);
  bytes.writeUInt32BE(value, writeFrameHead(bytes, 0, { type, flags: 0, streamId, length: 4 }));
  return bytes;
}
