/**
 * Frames of WebSocket (RFC 6455), as a server reads and writes them. The payload of a message is delivered in the pieces in which it
 * arrives: a long message takes no memory.
 */

import { CodedError } from '@hangar/core';

export class WebSocketError extends CodedError<'ProtocolError' | 'TooLarge'> {}

export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

const controlBytesMax = 125;
/** As in kube-apiserver. */
const frameBytesMax = 32 * 1024 * 1024;

export interface FrameHandler {
  /** A piece of a message: `isFirst` and `isLast` delimit the message. A message without payload is one empty piece. */
  data(piece: Buffer, position: { readonly isFirst: boolean; readonly isLast: boolean }): void;
  ping(payload: Buffer): void;
  close(): void;
}

interface Head {
  readonly opcode: number;
  readonly isFinal: boolean;
  readonly mask: Buffer;
}

/** Reads frames of a client. */
export class FrameReader {
  readonly #handler: FrameHandler;
  #buffered = Buffer.alloc(0);
  #head: Head | undefined;
  /** Bytes of the payload that were not read yet, and the number that were. */
  #left = 0;
  #done = 0;
  #isInMessage = false;
  #isFirst = false;
  #control = Buffer.alloc(0);
  #isClosed = false;

  constructor(handler: FrameHandler) {
    this.#handler = handler;
  }

  /** Throws a WebSocketError. */
  push(bytes: Buffer): void {
    let rest = this.#buffered.length > 0 ? Buffer.concat([this.#buffered, bytes]) : bytes;
    this.#buffered = Buffer.alloc(0);
    while (!this.#isClosed) {
      if (!this.#head) {
        const length = this.#readHead(rest);
        if (length === undefined) {
          this.#buffered = Buffer.from(rest);
          return;
        }
        rest = rest.subarray(length);
      } else if (rest.length === 0) return;
      const piece = rest.subarray(0, this.#left);
      rest = rest.subarray(piece.length);
      this.#payload(unmasked(piece, this.#head!.mask, this.#done));
    }
  }

  /** Returns the length of the head, or undefined if it is not complete. */
  #readHead(bytes: Buffer): number | undefined {
    if (bytes.length < 2) return undefined;
    const [first, second] = [bytes[0]!, bytes[1]!];
    if ((first & 0x70) !== 0) throw violated('a reserved bit is set');
    if ((second & 0x80) === 0) throw violated('a frame of the client is not masked');
    const short = second & 0x7f;
    const extended = short === 126 ? 2 : short === 127 ? 8 : 0;
    if (bytes.length < 6 + extended) return undefined;
    const length = extended === 0 ? short : extended === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
    if (length > frameBytesMax) throw new WebSocketError('TooLarge', `a frame is longer than ${frameBytesMax} bytes`);
    const mask = Buffer.from(bytes.subarray(2 + extended, 6 + extended));
    this.#begin({ opcode: first & 0x0f, isFinal: (first & 0x80) !== 0, mask }, length);
    return 6 + extended;
  }

  #begin(head: Head, length: number): void {
    const { opcode, isFinal } = head;
    if (opcode >= opcodes.close) {
      if (!isFinal || length > controlBytesMax) throw violated('a control frame is fragmented or too long');
      this.#control = Buffer.alloc(0);
    } else {
      const isContinuation = opcode === opcodes.continuation;
      if (opcode > opcodes.binary) throw violated(`the opcode ${opcode} is unknown`);
      if (isContinuation !== this.#isInMessage) throw violated('the order of fragments is wrong');
      if (!isContinuation) this.#isFirst = true;
      this.#isInMessage = true;
    }
    this.#head = head;
    this.#left = length;
    this.#done = 0;
  }

  #payload(piece: Buffer): void {
    const { opcode, isFinal } = this.#head!;
    this.#left -= piece.length;
    this.#done += piece.length;
    const isComplete = this.#left === 0;
    if (isComplete) this.#head = undefined;
    if (opcode >= opcodes.close) {
      this.#control = Buffer.concat([this.#control, piece]);
      if (isComplete) this.#endControl(opcode);
      return;
    }
    const isLast = isComplete && isFinal;
    if (isLast) this.#isInMessage = false;
    const isFirst = this.#isFirst;
    // An empty fragment has no channel number yet: the next piece is the first one.
    if (piece.length > 0 || isLast) {
      this.#isFirst = false;
      this.#handler.data(piece, { isFirst, isLast });
    }
  }

  #endControl(opcode: number): void {
    if (opcode === opcodes.ping) this.#handler.ping(this.#control);
    else if (opcode === opcodes.close) {
      this.#isClosed = true;
      this.#handler.close();
    }
  }
}

const violated = (text: string): WebSocketError => new WebSocketError('ProtocolError', text);

function unmasked(piece: Buffer, mask: Buffer, offset: number): Buffer {
  const plain = Buffer.allocUnsafe(piece.length);
  for (let at = 0; at < piece.length; at++) plain[at] = piece[at]! ^ mask[(offset + at) & 3]!;
  return plain;
}

/** Returns the head of an unmasked frame that is a whole message. */
export function frameHead(opcode: number, length: number): Buffer {
  if (length < 126) return Buffer.from([0x80 | opcode, length]);
  if (length < 65_536) {
    const head = Buffer.from([0x80 | opcode, 126, 0, 0]);
    head.writeUInt16BE(length, 2);
    return head;
  }
  const head = Buffer.alloc(10);
  head[0] = 0x80 | opcode;
  head[1] = 127;
  head.writeBigUInt64BE(BigInt(length), 2);
  return head;
}

/** The frame that closes a connection normally. */
export const normalClosure = Buffer.from([0x80 | opcodes.close, 2, 1_000 >> 8, 1_000 & 0xff]);
