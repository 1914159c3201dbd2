/**
 * Reads protobuf's wire format. Every length is checked before it is used; an error is a MalformedProtobuf, with kube-apiserver's message
 * if it has one.
 */

import { ApiError } from '../errors.ts';
import { wireTypes } from './plan.ts';

const strictText = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Longer texts seldom repeat. */
const shortText = 24;
/**
 * Names, keys and enumerated values repeat: the last text of each hash is cached, which saves most calls into the runtime. A power of two.
 */
const recent: string[] = Array.from({ length: 1024 }, () => '');

/** Undefined when it is not ASCII. */
function shortTextOf(bytes: Buffer, start: number, stop: number): string | undefined {
  let hash = stop - start;
  for (let i = start; i < stop; i++) {
    const byte = bytes[i]!;
    if (byte > 0x7f) return undefined;
    hash = (Math.imul(hash, 31) + byte) | 0;
  }
  const place = (hash ^ (hash >>> 10)) & 1023;
  const known = recent[place]!;
  if (known.length === stop - start && isText(known, bytes, start)) return known;
  return (recent[place] = bytes.toString('latin1', start, stop));
}

function isText(text: string, bytes: Buffer, start: number): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) !== bytes[start + i]) return false;
  return true;
}

export const malformed = (message: string): ApiError => new ApiError('MalformedProtobuf', message);

const endedEarly = (): ApiError => malformed('unexpected EOF');

export class Reader {
  readonly #bytes: Buffer;
  at = 0;
  /** Number of objects that may still be created: see `decodedObjectsMax`. */
  objectsLeft: number;

  constructor(bytes: Uint8Array, objectsMax: number) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.objectsLeft = objectsMax;
  }

  get length(): number {
    return this.#bytes.length;
  }

  /** Reads a varint of which only the low 32 bits matter, unsigned: tags, lengths, booleans. */
  varint(end: number): number {
    const bytes = this.#bytes;
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.at >= end) throw endedEarly();
      const byte = bytes[this.at++]!;
      if (shift < 28) value |= (byte & 0x7f) << shift;
      else if (shift === 28) {
        if ((byte & 0x7f) > 0x0f) throw malformed('proto: negative length found during unmarshaling');
        value |= (byte & 0x0f) << 28;
      } else if ((byte & 0x7f) !== 0) throw malformed('proto: negative length found during unmarshaling');
      if (byte < 0x80) return value >>> 0;
    }
    throw malformed('proto: integer overflow');
  }

  int32(end: number): number {
    const first = this.#bytes[this.at]!;
    if (this.at < end && first < 0x80) {
      this.at++;
      return first;
    }
    return Number(BigInt.asIntN(32, this.bigint(end)));
  }

  /** Returns a number: beyond 2^53 the nearest one, as in parsed JSON. */
  int64(end: number): number {
    const first = this.#bytes[this.at]!;
    if (this.at < end && first < 0x80) {
      this.at++;
      return first;
    }
    return Number(this.bigint(end));
  }

  bigint(end: number): bigint {
    const bytes = this.#bytes;
    let low = 0;
    let high = 0n;
    for (let i = 0; i < 10; i++) {
      if (this.at >= end) throw endedEarly();
      const byte = bytes[this.at++]!;
      if (i < 4) low |= (byte & 0x7f) << (7 * i);
      else high |= BigInt(byte & 0x7f) << BigInt(7 * (i - 4));
      if (byte < 0x80) return BigInt.asIntN(64, (high << 28n) | BigInt(low));
    }
    throw malformed('proto: integer overflow');
  }

  double(end: number): number {
    if (this.at + 8 > end) throw endedEarly();
    const value = this.#bytes.readDoubleLE(this.at);
    this.at += 8;
    return value;
  }

  /** Reads a length and returns the end of its content. */
  endOfBytes(end: number): number {
    const length = this.varint(end);
    if (length > end - this.at) throw endedEarly();
    return this.at + length;
  }

  text(end: number): string {
    const stop = this.endOfBytes(end);
    const start = this.at;
    this.at = stop;
    if (stop - start <= shortText) {
      const known = shortTextOf(this.#bytes, start, stop);
      if (known !== undefined) return known;
    }
    const text = this.#bytes.toString('utf8', start, stop);
    if (text.includes('\ufffd')) this.#checkText(start, stop);
    return text;
  }

  /** U+FFFD replaces invalid UTF-8, unless the text contains it. */
  #checkText(start: number, stop: number): void {
    try {
      strictText.decode(this.#bytes.subarray(start, stop));
    } catch (error) {
      throw new ApiError('MalformedProtobuf', 'a string is not valid UTF-8', { cause: error });
    }
  }

  /** A view, not a copy. */
  bytes(end: number): Buffer {
    const stop = this.endOfBytes(end);
    const view = this.#bytes.subarray(this.at, stop);
    this.at = stop;
    return view;
  }

  /** Skips an unknown field, including its groups. */
  skip(tag: number, end: number): void {
    let groups = 0;
    let wire = tag & 7;
    for (;;) {
      if (wire === wireTypes.varint) this.bigint(end);
      else if (wire === wireTypes.fixed64) this.#advance(8, end);
      else if (wire === wireTypes.bytes) this.at = this.endOfBytes(end);
      else if (wire === wireTypes.fixed32) this.#advance(4, end);
      else if (wire === wireTypes.startGroup) groups++;
      else if (wire === wireTypes.endGroup && groups > 0) groups--;
      else throw malformed(`proto: illegal wireType ${wire}`);
      if (groups === 0) return;
      wire = this.varint(end) & 7;
    }
  }

  #advance(count: number, end: number): void {
    if (this.at + count > end) throw endedEarly();
    this.at += count;
  }

  countObject(): void {
    if (--this.objectsLeft < 0) throw malformed('the message has too many objects for its size');
  }
}
