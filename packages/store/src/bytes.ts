/** A small binary notation for journals and exports: unsigned varints, length-prefixed strings and bytes. */

import { StoreError } from './errors.ts';

export class ByteWriter {
  #buffer = Buffer.allocUnsafe(4096);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** A whole number from 0 to 2^53 − 1. */
  uint(value: number): this {
    this.#reserve(8);
    while (value >= 0x80) {
      this.#buffer[this.#length++] = (value % 0x80) | 0x80;
      value = Math.floor(value / 0x80);
    }
    this.#buffer[this.#length++] = value;
    return this;
  }

  bytes(value: Uint8Array): this {
    this.uint(value.length);
    this.#reserve(value.length);
    this.#buffer.set(value, this.#length);
    this.#length += value.length;
    return this;
  }

  string(value: string): this {
    return this.bytes(Buffer.from(value));
  }

  finish(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + more));
    grown.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = grown;
  }
}

/** Refuses bytes that are not UTF-8, which would otherwise become another string. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Throws `StorageDamaged` when the notation runs out: callers check a checksum first, so that is never normal. */
export class ByteReader {
  readonly #buffer: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  get done(): boolean {
    return this.#at >= this.#buffer.length;
  }

  uint(): number {
    let value = 0;
    for (let scale = 1; scale <= 2 ** 49; scale *= 0x80) {
      const byte = this.#take(1)[0]!;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    throw damaged();
  }

  bytes(): Uint8Array {
    return new Uint8Array(this.#take(this.uint()));
  }

  string(): string {
    try {
      return utf8.decode(this.#take(this.uint()));
    } catch (error) {
      throw error instanceof StoreError ? error : damaged();
    }
  }

  #take(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#buffer.length) throw damaged();
    const taken = this.#buffer.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }
}

function damaged(): StoreError {
  return new StoreError('StorageDamaged', 'a record is shorter than its declared length');
}
