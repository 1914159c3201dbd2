/**
 * The outgoing frames of a connection. Frames created together are sent in one write: the cost of a write, in encryption and system calls,
 * is most of the cost of a small answer. The caller decides how long frames are gathered: until the input of one socket was handled, or
 * until the turn of the event loop ends.
 *
 * Data is made into frames only as fast as the socket and the windows of the other end take it; the rest stays with its stream. Streams
 * with data take turns, a frame each. Frames without flow control (heads, acknowledgements) are bounded by closing a connection whose other
 * side does not read them.
 */

import type { Duplex } from 'node:stream';
import { frame, frameHeadBytes, writeFrameHead } from './frames.ts';
import { emptyTable } from './hpack/encoder.ts';
import { flag, frameBytesMin, frameType, initialWindow, windowMax } from './protocol.ts';

/** A stream with data that could not be sent at once. */
export interface Sender {
  /** Sends at most one frame; returns false if there is nothing that it may send now. */
  sendSome(): boolean;
}

/** Some records of TLS. Larger buffers are returned to the system and allocated again each time, which costs more than it saves. */
const writeBytesMax = 64 * 1024;
/** If the other side leaves more unread, it is an attack and not a slow reader. */
const pileBytesMax = 2 * 1024 * 1024;
/** Smaller payloads are copied behind their head, so that a turn with one frame needs no joining. */
const copiedBytesMax = 4 * 1024;

/** More bytes are joined by the socket, whose buffer is free after the write. Buffers of this size would wait for a garbage collection. */
const joinedBytesMax = 8 * 1024;

export class Outgoing {
  /** Send window of the connection. */
  window = initialWindow;
  /** Minimum frame size that the other side allows. Larger frames would only delay other streams. */
  readonly frameBytesMax = frameBytesMin;
  /** The other side reduced its header table, and the next block must acknowledge it. */
  mustEmptyTable = false;
  readonly #socket: Duplex;
  readonly #onPile: () => void;
  readonly #later: (flush: () => void) => void;
  readonly #flush = (): void => this.flush();
  readonly #senders = new Set<Sender>();
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  #isScheduled = false;
  #isBlocked = false;

  constructor(socket: Duplex, onPile: () => void, later: (flush: () => void) => void = process.nextTick) {
    this.#socket = socket;
    this.#onPile = onPile;
    this.#later = later;
    socket.on('drain', () => {
      this.#isBlocked = false;
      this.flush();
    });
  }

  /** Reports whether the socket has passed on all frames. */
  get isFlushed(): boolean {
    return this.#bytes === 0 && this.#socket.writableLength === 0;
  }

  /** Reports whether data may be sent now. */
  get isOpen(): boolean {
    return !this.#isBlocked && this.window > 0;
  }

  append(piece: Uint8Array): void {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes >= writeBytesMax) this.#write();
    else this.#schedule();
  }

  /** The caller has checked the windows. */
  data(streamId: number, payload: Uint8Array, isLast: boolean): void {
    const { length } = payload;
    if (length > copiedBytesMax) {
      this.dataHead(streamId, length, isLast);
      return this.append(payload);
    }
    this.window -= length;
    this.append(frame(frameType.data, isLast ? flag.endStream : 0, streamId, payload));
  }

  /** The payload follows, by `append`. */
  dataHead(streamId: number, length: number, isLast: boolean): void {
    this.window -= length;
    const bytes = Buffer.allocUnsafe(frameHeadBytes);
    writeFrameHead(bytes, 0, { type: frameType.data, flags: isLast ? flag.endStream : 0, streamId, length });
    this.append(bytes);
  }

  head(streamId: number, given: string, isLast: boolean): void {
    const block = this.#begun(given);
    if (block.length > this.frameBytesMax) return this.#longHead(streamId, block, isLast);
    const bytes = Buffer.allocUnsafe(frameHeadBytes + block.length);
    this.#writeHead(bytes, streamId, block, isLast);
    this.append(bytes);
  }

  /** Sends a head and all of its data, in one piece. The caller has checked the windows, and that each is at most one frame. */
  answer(streamId: number, given: string, payload: Uint8Array): void {
    const block = this.#begun(given);
    const { length } = payload;
    this.window -= length;
    const bytes = Buffer.allocUnsafe(2 * frameHeadBytes + block.length + length);
    const end = this.#writeHead(bytes, streamId, block, false);
    bytes.set(payload, writeFrameHead(bytes, end, { type: frameType.data, flags: flag.endStream, streamId, length }));
    this.append(bytes);
  }

  #begun(block: string): string {
    if (!this.mustEmptyTable) return block;
    this.mustEmptyTable = false;
    return emptyTable + block;
  }

  #writeHead(bytes: Buffer, streamId: number, block: string, isLast: boolean): number {
    const { length } = block;
    const flags = flag.endHeaders | (isLast ? flag.endStream : 0);
    const at = writeFrameHead(bytes, 0, { type: frameType.headers, flags, streamId, length });
    return at + bytes.write(block, at, length, 'latin1');
  }

  #longHead(streamId: number, block: string, isLast: boolean): void {
    const bytes = Buffer.from(block, 'latin1');
    for (let at = 0; at < bytes.length; at += this.frameBytesMax) {
      const end = Math.min(bytes.length, at + this.frameBytesMax);
      const type = at === 0 ? frameType.headers : frameType.continuation;
      const flags = (at === 0 && isLast ? flag.endStream : 0) | (end === bytes.length ? flag.endHeaders : 0);
      this.append(frame(type, flags, streamId, bytes.subarray(at, end)));
    }
  }

  /** Called for WINDOW_UPDATE. Returns false if the window would exceed its maximum. */
  widen(bytes: number): boolean {
    this.window += bytes;
    if (this.#senders.size > 0) this.#schedule();
    return this.window <= windowMax;
  }

  /** Lets it send as soon as there is room. */
  wants(sender: Sender): void {
    this.#senders.add(sender);
    this.#schedule();
  }

  forget(sender: Sender): void {
    this.#senders.delete(sender);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#later(this.#flush);
  }

  flush(): void {
    this.#isScheduled = false;
    for (const sender of this.#senders) {
      if (!this.isOpen) break;
      // Moved to the end: this loop meets it again.
      this.#senders.delete(sender);
      if (sender.sendSome()) this.#senders.add(sender);
    }
    this.#write();
  }

  #write(): void {
    if (this.#bytes === 0) return;
    const pieces = this.#pieces;
    const bytes = this.#bytes;
    this.#pieces = [];
    this.#bytes = 0;
    if (!this.#socket.writable) return;
    if (this.#send(pieces, bytes)) return;
    this.#isBlocked = true;
    if (this.#socket.writableLength > pileBytesMax) this.#onPile();
  }

  /** Writes all pieces at once. Returns false if the caller must wait until the socket drains. */
  #send(pieces: readonly Uint8Array[], bytes: number): boolean {
    const socket = this.#socket;
    if (pieces.length === 1) return socket.write(pieces[0]!);
    if (bytes <= joinedBytesMax) return socket.write(Buffer.concat(pieces, bytes));
    let isTaken = true;
    socket.cork();
    for (const piece of pieces) isTaken = socket.write(piece);
    socket.uncork();
    return isTaken;
  }
}
