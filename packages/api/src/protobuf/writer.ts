/**
 * Writes protobuf from the end to the beginning: when a message's fields are written, its length is known, and nothing
 * has to be measured before. One writer serves one encoding at a time; its buffer is kept for the next.
 */

const initialBytes = 4096;
/** A buffer that had to grow beyond this for one large object is not kept. */
const keptBytesMax = 1 << 20;
/** Up to here a loop is quicker than a call into the runtime. */
const shortText = 40;

export class Writer {
  #buffer: Buffer = Buffer.allocUnsafeSlow(initialBytes);
  /** Start of the written bytes. */
  #at = initialBytes;

  /** Number of written bytes: the length of a message is the difference of two of these. */
  get length(): number {
    return this.#buffer.length - this.#at;
  }

  /** Returns a copy of the written bytes and empties the writer. */
  finish(): Buffer {
    const bytes = Buffer.from(this.#buffer.subarray(this.#at));
    this.reset();
    return bytes;
  }

  reset(): void {
    if (this.#buffer.length > keptBytesMax) this.#buffer = Buffer.allocUnsafeSlow(initialBytes);
    this.#at = this.#buffer.length;
  }

  byte(value: number): void {
    if (this.#at < 1) this.#grow(1);
    this.#buffer[--this.#at] = value;
  }

  /** Writes a tag or a length: not negative, below 2^31. */
  varint(value: number): void {
    if (this.#at < 5) this.#grow(5);
    const buffer = this.#buffer;
    if (value < 0x80) {
      buffer[--this.#at] = value;
      return;
    }
    const size = value < 0x4000 ? 2 : value < 0x200000 ? 3 : value < 0x10000000 ? 4 : 5;
    this.#at -= size;
    let at = this.#at;
    let rest = value;
    while (rest >= 0x80) {
      buffer[at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    buffer[at] = rest;
  }

  /** Writes any integer that a number holds exactly; negative ones take ten bytes. */
  integer(value: number): void {
    if (value >= 0 && value < 0x80000000) this.varint(value);
    else this.bigint(BigInt(value));
  }

  bigint(value: bigint): void {
    if (this.#at < 10) this.#grow(10);
    const bytes: number[] = [];
    let rest = BigInt.asUintN(64, value);
    while (rest >= 0x80n) {
      bytes.push(Number(rest & 0x7fn) | 0x80);
      rest >>= 7n;
    }
    bytes.push(Number(rest));
    this.#at -= bytes.length;
    for (let i = 0; i < bytes.length; i++) this.#buffer[this.#at + i] = bytes[i]!;
  }

  double(value: number): void {
    if (this.#at < 8) this.#grow(8);
    this.#at -= 8;
    this.#buffer.writeDoubleLE(value, this.#at);
  }

  bytes(value: Uint8Array): void {
    if (this.#at < value.length) this.#grow(value.length);
    this.#at -= value.length;
    this.#buffer.set(value, this.#at);
  }

  /** Writes the length and the text as UTF-8. */
  text(value: string): void {
    const length = value.length;
    if (length <= shortText) {
      if (this.#at < length + 5) this.#grow(length + 5);
      const buffer = this.#buffer;
      const start = this.#at - length;
      let i = 0;
      for (; i < length; i++) {
        const code = value.charCodeAt(i);
        if (code > 0x7f) break;
        buffer[start + i] = code;
      }
      if (i === length) {
        this.#at = start;
        buffer[--this.#at] = length;
        return;
      }
    }
    const size = Buffer.byteLength(value);
    if (this.#at < size + 5) this.#grow(size + 5);
    this.#at -= size;
    this.#buffer.write(value, this.#at, size, 'utf8');
    this.varint(size);
  }

  #grow(needed: number): void {
    const used = this.length;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#buffer.length * 2, used + needed));
    this.#buffer.copy(larger, larger.length - used, this.#at);
    this.#buffer = larger;
    this.#at = larger.length - used;
  }
}
