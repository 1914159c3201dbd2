/**
 * Parses the incoming frames of a connection and checks each by itself: its length, its stream identifier, its padding, and that header
 * blocks are contiguous. The connection interprets a frame for its stream.
 */

import type { Allowance } from './allowance.ts';
import { ConnectionError, StreamError } from './errors.ts';
import { FrameReader } from './frames.ts';
import { HeaderBlock } from './header-block.ts';
import { HpackDecoder } from './hpack/decoder.ts';
import type { HeaderLimits } from './hpack/decoder.ts';
import type { Field } from './hpack/field.ts';
import { errorCode, flag, frameType, preface, windowMax } from './protocol.ts';
import { readSettings } from './settings.ts';

/** Stream identifiers are odd, unless 0 is documented as possible. May throw either error. */
export interface Received {
  /** `flowBytes` counts for the windows, including the padding. */
  data(streamId: number, payload: Buffer, flowBytes: number, isLast: boolean): void;
  /** Undefined: too many headers. */
  headers(streamId: number, fields: readonly Field[] | undefined, isLast: boolean): void;
  reset(streamId: number, code: number): void;
  setting(id: number, value: number): void;
  /** Called after all settings of a frame. */
  settingsEnd(): void;
  ping(payload: Buffer): void;
  /** Called for the answer to a ping. */
  pong?(): void;
  /** The other side processes no streams after this one, and closes soon. */
  goAway?(lastStreamId: number, code: number): void;
  /** For the connection, if it is 0. */
  windowUpdate(streamId: number, bytes: number): void;
  streamError(error: StreamError): void;
}

export interface IncomingOptions {
  /** Limit of frames without content: PING, SETTINGS, PRIORITY, DATA without data, and unknown types. */
  readonly emptyFrames: Allowance;
  /** A client sends it first, a server does not. */
  readonly hasPreface: boolean;
}

const protocolError = (message: string): ConnectionError => new ConnectionError(errorCode.protocol, message);
const frameSizeError = (message: string): ConnectionError => new ConnectionError(errorCode.frameSize, message);

export class Incoming {
  readonly #to: Received;
  readonly #reader = new FrameReader((type, flags, id, bytes, start, end) =>
    this.#frame(type, flags, id, bytes, start, end),
  );
  readonly #decoder: HpackDecoder;
  readonly #emptyFrames: Allowance;
  #prefaceLeft: Buffer | undefined;
  #hasSettings = false;
  #block: HeaderBlock | undefined;

  constructor(to: Received, limits: HeaderLimits, { emptyFrames, hasPreface }: IncomingOptions) {
    this.#prefaceLeft = hasPreface ? preface : undefined;
    this.#to = to;
    this.#decoder = new HpackDecoder(limits);
    this.#emptyFrames = emptyFrames;
  }

  /** Reports whether an incomplete frame or block must be completed soon. Bodies have their own time limit. */
  get isPending(): boolean {
    const type = this.#reader.partialType;
    return !this.#hasSettings || this.#block !== undefined || (type !== undefined && type !== frameType.data);
  }

  /** Throws errors of the connection; nothing may be fed afterwards. */
  feed(chunk: Buffer): void {
    const rest = this.#prefaceLeft ? this.#readPreface(this.#prefaceLeft, chunk) : chunk;
    if (rest.length > 0) this.#reader.feed(rest);
  }

  #readPreface(left: Buffer, chunk: Buffer): Buffer {
    const length = Math.min(left.length, chunk.length);
    if (left.compare(chunk, 0, length, 0, length) !== 0) throw protocolError('the connection preface is not HTTP/2');
    this.#prefaceLeft = length === left.length ? undefined : left.subarray(length);
    return chunk.subarray(length);
  }

  #frame(type: number, flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    if (this.#block && type !== frameType.continuation) throw protocolError('a frame interrupts a header block');
    if (!this.#hasSettings && type !== frameType.settings) throw protocolError('the first frame must be SETTINGS');
    try {
      switch (type) {
        case frameType.data:
          return this.#data(flags, id, bytes, start, end);
        case frameType.headers:
          return this.#headers(flags, id, bytes, start, end);
        case frameType.priority:
          return this.#priority(id, bytes, start, end);
        case frameType.resetStream:
          return this.#reset(id, bytes, start, end);
        case frameType.settings:
          return this.#settings(flags, id, bytes, start, end);
        case frameType.pushPromise:
          throw protocolError('PUSH_PROMISE is not allowed');
        case frameType.ping:
          return this.#ping(flags, id, bytes.subarray(start, end));
        case frameType.goAway:
          return this.#goAway(id, bytes, start, end);
        case frameType.windowUpdate:
          return this.#windowUpdate(id, bytes, start, end);
        case frameType.continuation:
          return this.#continuation(flags, id, bytes.subarray(start, end));
        default:
          return this.#countEmpty();
      }
    } catch (error) {
      if (!(error instanceof StreamError)) throw error;
      this.#to.streamError(error);
    }
  }

  #data(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    requireStream(id);
    const isLast = (flags & flag.endStream) !== 0;
    const [from, to] = flags & flag.padded ? unpadded(bytes, start, end) : [start, end];
    if (from === to && !isLast) this.#countEmpty();
    this.#to.data(id, bytes.subarray(from, to), end - start, isLast);
  }

  #headers(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    requireStream(id);
    let [from, to] = flags & flag.padded ? unpadded(bytes, start, end) : [start, end];
    if (flags & flag.priority) {
      if (to - from < 5) throw frameSizeError('HEADERS is too short for its priority fields');
      if (dependency(bytes, from) === id) throw protocolError('a stream depends on itself');
      from += 5;
    }
    const isLast = (flags & flag.endStream) !== 0;
    if (flags & flag.endHeaders) return this.#to.headers(id, this.#decoder.decode(bytes, from, to), isLast);
    this.#block = new HeaderBlock(id, isLast);
    this.#block.add(bytes.subarray(from, to));
  }

  #continuation(flags: number, id: number, piece: Buffer): void {
    const block = this.#block;
    if (!block || block.streamId !== id) throw protocolError('CONTINUATION without a preceding HEADERS');
    block.add(piece);
    if (!(flags & flag.endHeaders)) return;
    this.#block = undefined;
    const bytes = block.bytes();
    this.#to.headers(id, this.#decoder.decode(bytes, 0, bytes.length), block.isLast);
  }

  #priority(id: number, bytes: Buffer, start: number, end: number): void {
    requireStream(id);
    if (end - start !== 5) throw new StreamError(id, errorCode.frameSize, 'PRIORITY has an invalid length');
    if (dependency(bytes, start) === id) throw new StreamError(id, errorCode.protocol, 'a stream depends on itself');
    this.#countEmpty();
  }

  #reset(id: number, bytes: Buffer, start: number, end: number): void {
    requireStream(id);
    if (end - start !== 4) throw frameSizeError('RST_STREAM has an invalid length');
    this.#to.reset(id, bytes.readUInt32BE(start));
  }

  #settings(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    requireConnection(id);
    if (flags & flag.ack) {
      if (start !== end) throw frameSizeError('a SETTINGS acknowledgement has a payload');
      if (!this.#hasSettings) throw protocolError('the first frame must be SETTINGS');
      return;
    }
    this.#hasSettings = true;
    this.#countEmpty();
    readSettings(bytes, start, end, (which, value) => this.#to.setting(which, value));
    this.#to.settingsEnd();
  }

  #ping(flags: number, id: number, payload: Buffer): void {
    requireConnection(id);
    if (payload.length !== 8) throw frameSizeError('PING has an invalid length');
    this.#countEmpty();
    if (flags & flag.ack) this.#to.pong?.();
    else this.#to.ping(payload);
  }

  #goAway(id: number, bytes: Buffer, start: number, end: number): void {
    requireConnection(id);
    if (end - start < 8) throw frameSizeError('GOAWAY has an invalid length');
    this.#to.goAway?.(bytes.readUInt32BE(start) & windowMax, bytes.readUInt32BE(start + 4));
  }

  #windowUpdate(id: number, bytes: Buffer, start: number, end: number): void {
    if (id !== 0) requireStream(id);
    if (end - start !== 4) throw frameSizeError('WINDOW_UPDATE has an invalid length');
    this.#to.windowUpdate(id, bytes.readUInt32BE(start) & windowMax);
  }

  #countEmpty(): void {
    if (!this.#emptyFrames.take())
      throw new ConnectionError(errorCode.enhanceYourCalm, 'too many frames without content');
  }
}

/** Only clients open streams, with odd identifiers. */
function requireStream(id: number): void {
  if (id % 2 === 0) throw protocolError('the frame has a stream identifier that is not a client stream');
}

function requireConnection(id: number): void {
  if (id !== 0) throw protocolError('the frame has a stream identifier, but applies to the connection only');
}

/** Returns the start and end of the content without the padding. */
function unpadded(bytes: Buffer, start: number, end: number): readonly [from: number, to: number] {
  if (start === end) throw frameSizeError('the frame is too short for the padding length');
  const to = end - bytes[start]!;
  if (to <= start) throw protocolError('the padding is longer than the frame');
  return [start + 1, to];
}

const dependency = (bytes: Buffer, at: number): number => bytes.readUInt32BE(at) & windowMax;
