/**
 * Reads protobuf messages in place. A decoder is a loop over tags:
 *
 *     while (reader.at < end) {
 *       switch (reader.tag()) {
 *         case bytesField(1): key = reader.string(); break;
 *         default: reader.skip();
 *       }
 *     }
 *
 * Nothing is trusted: a message that contradicts itself throws `MalformedMessage`.
 */

import { CodedError } from '@hangar/core';

export const uintField = (field: number): number => field * 8;
export const bytesField = (field: number): number => field * 8 + 2;

export class MessageReader {
  readonly buffer: Buffer;
  at = 0;
  #tag = 0;

  constructor(buffer: Buffer) {
    this.buffer = buffer;
  }

  tag(): number {
    return (this.#tag = this.uint());
  }

  /** A whole number from 0 to 2^53 − 1; beyond that it loses its last digits. */
  uint(): number {
    const { buffer } = this;
    let byte = this.#byte(buffer);
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    for (let scale = 0x80, bytes = 2; bytes <= 10; scale *= 0x80, bytes++) {
      byte = this.#byte(buffer);
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    throw malformed('a number is longer than ten bytes');
  }

  flag(): boolean {
    return this.uint() !== 0;
  }

  int64(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#byte(this.buffer);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, value);
    }
    throw malformed('a number is longer than ten bytes');
  }

  /** The end of the nested message or bytes that begin here. */
  end(): number {
    const end = this.uint() + this.at;
    if (end > this.buffer.length) throw malformed('a field is longer than its message');
    return end;
  }

  /** A view, not a copy. */
  bytes(): Uint8Array {
    const end = this.end();
    const { buffer, at } = this;
    this.at = end;
    return new Uint8Array(buffer.buffer, buffer.byteOffset + at, end - at);
  }

  string(): string {
    const end = this.end();
    const text = this.buffer.toString('utf8', this.at, end);
    this.at = end;
    return text;
  }

  /** Skips the value of the tag that was read last. */
  skip(): void {
    const wireType = this.#tag & 7;
    if (wireType === 0) while (this.#byte(this.buffer) >= 0x80);
    else if (wireType === 2) this.at = this.end();
    else if (wireType === 1) this.at += 8;
    else if (wireType === 5) this.at += 4;
    else throw malformed(`unknown wire type ${wireType}`);
    if (this.at > this.buffer.length) throw malformed('it ends inside a field');
  }

  #byte(buffer: Buffer): number {
    const byte = buffer[this.at++];
    if (byte === undefined) throw malformed('it ends inside a field');
    return byte;
  }
}

/**
 * Bytes that may be kept: a view that is a small part of a large buffer would keep all of that in memory, so it is
 * copied; one that makes up most of it is not.
 */
export function owned(view: Uint8Array): Uint8Array {
  return view.length * 4 >= view.buffer.byteLength ? view : new Uint8Array(view);
}

function malformed(what: string): CodedError<'MalformedMessage'> {
  return new CodedError('MalformedMessage', `a protobuf message is malformed: ${what}`);
}
