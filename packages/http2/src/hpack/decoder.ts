/**
 * Decodes header blocks (RFC 7541). Blocks change the table that later ones refer to, so each must be decoded completely, even if its
 * headers are not used.
 *
 * A small block may expand to very much: headers over the limits are counted and dropped, never copied.
 */

import { ConnectionError } from '../errors.ts';
import { errorCode, headerTableBytes } from '../protocol.ts';
import { Field } from './field.ts';
import { huffmanDecoded } from './huffman.ts';
import { staticFields } from './static-table.ts';

export interface HeaderLimits {
  /** Counted like SETTINGS_MAX_HEADER_LIST_SIZE: 32 more than its characters for each header. */
  readonly bytesMax: number;
  readonly fieldsMax: number;
}

const broken = (message: string): ConnectionError => new ConnectionError(errorCode.compression, message);

export class HpackDecoder {
  readonly #limits: HeaderLimits;
  readonly #table = new DynamicTable();
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  #end = 0;

  constructor(limits: HeaderLimits) {
    this.#limits = limits;
  }

  /** Returns undefined if the headers exceed the limits. */
  decode(bytes: Buffer, start: number, end: number): readonly Field[] | undefined {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
    this.#sizeUpdates();
    const { bytesMax, fieldsMax } = this.#limits;
    const fields: Field[] = [];
    let left = bytesMax;
    let isOver = false;
    while (this.#at < end) {
      const field = this.#field();
      left -= field.size;
      if (left < 0 || fields.length === fieldsMax) isOver = true;
      else fields.push(field);
    }
    return isOver ? undefined : fields;
  }

  /** Allowed only before the first header. */
  #sizeUpdates(): void {
    while (this.#at < this.#end && (this.#bytes[this.#at]! & 0xe0) === 0x20) {
      const size = this.#integer(0x1f);
      if (size > headerTableBytes) throw broken('the dynamic table size exceeds the limit');
      this.#table.resize(size);
    }
  }

  #field(): Field {
    const first = this.#bytes[this.#at]!;
    if (first & 0x80) return this.#indexed(this.#integer(0x7f));
    if ((first & 0xe0) === 0x20) throw broken('a dynamic table size update follows a header field');
    const isKept = (first & 0x40) !== 0;
    const index = this.#integer(isKept ? 0x3f : 0x0f);
    const name = index === 0 ? this.#string() : this.#indexed(index).name;
    const field = new Field(name, this.#string());
    if (isKept) this.#table.add(field);
    return field;
  }

  #indexed(index: number): Field {
    const field =
      index <= staticFields.length ? staticFields[index - 1] : this.#table.get(index - staticFields.length - 1);
    if (!field) throw broken('an index is outside of the header table');
    return field;
  }

  #integer(mask: number): number {
    let value = this.#bytes[this.#at++]! & mask;
    if (value < mask) return value;
    for (let shift = 0; shift <= 21; shift += 7) {
      if (this.#at >= this.#end) throw broken('the header block ends inside an integer');
      const byte = this.#bytes[this.#at++]!;
      value += (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw broken('an integer is too large');
  }

  #string(): string {
    if (this.#at >= this.#end) throw broken('the header block ends before a string');
    const isHuffman = (this.#bytes[this.#at]! & 0x80) !== 0;
    const length = this.#integer(0x7f);
    const start = this.#at;
    const end = start + length;
    if (end > this.#end) throw broken('the header block ends inside a string');
    this.#at = end;
    return isHuffman ? huffmanDecoded(this.#bytes, start, end) : this.#bytes.toString('latin1', start, end);
  }
}

/** Headers that blocks store for later ones; the newest has index 0, the oldest are evicted when there is no room. */
class DynamicTable {
  /** Oldest first. */
  readonly #fields: Field[] = [];
  #size = 0;
  #sizeMax = headerTableBytes;

  get(index: number): Field | undefined {
    return this.#fields[this.#fields.length - 1 - index];
  }

  /** A header larger than the table empties it and is not added. */
  add(field: Field): void {
    this.#fields.push(field);
    this.#size += field.size;
    this.#evict();
  }

  resize(sizeMax: number): void {
    this.#sizeMax = sizeMax;
    this.#evict();
  }

  #evict(): void {
    while (this.#size > this.#sizeMax) this.#size -= this.#fields.shift()!.size;
  }
}
