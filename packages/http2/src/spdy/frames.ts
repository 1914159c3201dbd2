/**
 * Frames of SPDY/3.1, as far as kubelets and their clients need them. They use no flow control, so none is implemented: WINDOW_UPDATE is
 * ignored, and TCP slows the sender down.
 */

import { CodedError } from '@hangar/core';

export class SpdyError extends CodedError<'ProtocolError'> {}

const version = 3;
const types = { synStream: 1, synReply: 2, rstStream: 3, settings: 4, ping: 6, goAway: 7, headers: 8, windowUpdate: 9 };
export const flagFin = 1;
/** Limit of a control frame: headers of a kubelet are short. */
const controlBytesMax = 64 * 1024;
const dataBytesMax = 0xffffff;

/** Start of a zlib stream with the dictionary of SPDY/3, which is identified by its checksum. */
const zlibHead = Buffer.from([0x78, 0xbb, 0xe3, 0xc6, 0xa7, 0xc2]);
/** An empty stored block: readers deliver everything before it. */
const zlibFlush = Buffer.from([0, 0, 0, 0xff, 0xff]);

/** Writes the headers of streams. All blocks of a connection form one zlib stream; here they are stored, not compressed. */
export class HeaderWriter {
  #isFirst = true;

  write(headers: Readonly<Record<string, string>>): Buffer {
    const entries = Object.entries(headers);
    const plain = Buffer.concat([uint32(entries.length), ...entries.flatMap((pair) => pair.map(lengthAndText))]);
    const stored = Buffer.alloc(5);
    stored.writeUInt16LE(plain.length, 1);
    stored.writeUInt16LE(~plain.length & 0xffff, 3);
    const head = this.#isFirst ? zlibHead : Buffer.alloc(0);
    this.#isFirst = false;
    return Buffer.concat([head, stored, plain, zlibFlush]);
  }
}

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

const lengthAndText = (text: string): Buffer => {
  const bytes = Buffer.from(text);
  return Buffer.concat([uint32(bytes.length), bytes]);
};

function control(type: number, flags: number, body: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt16BE(0x8000 | version, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt32BE(body.length, 4);
  head[4] = flags;
  return Buffer.concat([head, body]);
}

export const synStream = (id: number, headers: Buffer): Buffer =>
  control(types.synStream, 0, Buffer.concat([uint32(id), uint32(0), Buffer.alloc(2), headers]));

export const synReply = (id: number, headers: Buffer): Buffer =>
  control(types.synReply, 0, Buffer.concat([uint32(id), headers]));

/** Status of RST_STREAM: the stream is cancelled. */
const cancelled = 5;

export const rstStream = (id: number): Buffer =>
  control(types.rstStream, 0, Buffer.concat([uint32(id), uint32(cancelled)]));

export const pingReply = (id: Buffer): Buffer => control(types.ping, 0, id);

export function dataHead(id: number, length: number, flags: number): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(id & 0x7fffffff, 0);
  head.writeUInt32BE(length, 4);
  head[4] = flags;
  return head;
}

export interface SpdyHandler {
  /** A piece of the data of a stream, in the pieces in which it arrives. */
  data(id: number, piece: Buffer): void;
  /** The peer closed its sending direction of the stream. */
  fin(id: number): void;
  reset(id: number): void;
  ping(id: Buffer): void;
  /** The peer opened a stream; `headers` is the compressed block. Absent: the peer must not open streams. */
  opened?(id: number, headers: Buffer): void;
}

interface DataFrame {
  readonly id: number;
  readonly isFin: boolean;
}

/** Reads frames of the peer. */
export class SpdyReader {
  readonly #handler: SpdyHandler;
  #buffered = Buffer.alloc(0);
  #data: DataFrame | undefined;
  #left = 0;

  constructor(handler: SpdyHandler) {
    this.#handler = handler;
  }

  /** Throws a SpdyError. */
  push(bytes: Buffer): void {
    let rest = this.#buffered.length > 0 ? Buffer.concat([this.#buffered, bytes]) : bytes;
    this.#buffered = Buffer.alloc(0);
    while (rest.length > 0) {
      const read = this.#data ? this.#readData(rest) : this.#readFrame(rest);
      if (read === 0) {
        this.#buffered = Buffer.from(rest);
        return;
      }
      rest = rest.subarray(read);
    }
  }

  #readData(bytes: Buffer): number {
    const { id, isFin } = this.#data!;
    const piece = bytes.subarray(0, this.#left);
    this.#left -= piece.length;
    if (this.#left === 0) this.#data = undefined;
    this.#handler.data(id, piece);
    if (this.#left === 0 && isFin) this.#handler.fin(id);
    return piece.length;
  }

  /** Returns the number of bytes that were read; 0 if the frame is not complete. */
  #readFrame(bytes: Buffer): number {
    if (bytes.length < 8) return 0;
    const length = bytes.readUInt32BE(4) & dataBytesMax;
    const flags = bytes[4]!;
    if ((bytes[0]! & 0x80) === 0) {
      const id = bytes.readUInt32BE(0);
      const isFin = (flags & flagFin) !== 0;
      if (length > 0) {
        this.#data = { id, isFin };
        this.#left = length;
      } else if (isFin) this.#handler.fin(id);
      return 8;
    }
    if ((bytes.readUInt16BE(0) & 0x7fff) !== version) throw new SpdyError('ProtocolError', 'unknown version of SPDY');
    if (length > controlBytesMax) throw new SpdyError('ProtocolError', 'a control frame is too long');
    if (bytes.length < 8 + length) return 0;
    this.#control(bytes.readUInt16BE(2), flags, bytes.subarray(8, 8 + length));
    return 8 + length;
  }

  #control(type: number, flags: number, body: Buffer): void {
    if (type === types.ping && body.length === 4) this.#handler.ping(Buffer.from(body));
    if (body.length < 4) return;
    const id = body.readUInt32BE(0) & 0x7fffffff;
    if (type === types.rstStream) this.#handler.reset(id);
    if (type === types.synStream && this.#handler.opened) {
      if (body.length < 10) throw new SpdyError('ProtocolError', 'a SYN_STREAM frame is too short');
      this.#handler.opened(id, Buffer.from(body.subarray(10)));
      if ((flags & flagFin) !== 0) this.#handler.fin(id);
    }
    if ((type === types.synReply || type === types.headers) && (flags & flagFin) !== 0) this.#handler.fin(id);
  }
}
