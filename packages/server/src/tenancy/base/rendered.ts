/**
 * Template of a base value: its bytes, and the offsets of the fields that differ between tenants. These fields have a fixed length, so
 * rendering is a copy and a few writes.
 *
 *     {"kind":"Namespace",…"uid":"________-____-____-____-____________","creationTimestamp":"____________________"…
 *                                 └ from the seed and the key                              └ creation time of the tenant
 */

import { assert } from '@hangar/core';
import { markTemplate } from '../../objects/template.ts';
import { baseUid } from './uid.ts';

/** Placeholders in the values that templates are made of. */
export interface Model {
  /** Time in all values, RFC 3339 in seconds. */
  readonly time: string;
  /** UID → key of its object. */
  readonly keys: ReadonlyMap<string, string>;
}

interface UidPlace {
  readonly at: number;
  /** Key of the object that has the UID; usually the value's own object. */
  readonly key: string;
}

const uidPattern = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const dateLength = 'yyyy-mm-dd'.length;

export class RenderedValue {
  readonly #bytes: Buffer;
  readonly #uids: readonly UidPlace[];
  /** Offsets of full times, and of dates without a time. */
  readonly #times: readonly number[];
  readonly #dates: readonly number[];

  constructor(value: Uint8Array, { time, keys }: Model) {
    // Copy the bytes: a view would keep the source buffer in memory.
    this.#bytes = Buffer.from(Uint8Array.from(value).buffer);
    // latin1 has one byte per character, so offsets in the text are offsets in the value.
    const text = this.#bytes.toString('latin1');
    this.#uids = Array.from(text.matchAll(uidPattern), ({ 0: uid, index }) => {
      const key = keys.get(uid);
      assert(key !== undefined, `the uid ${uid} is of no object of the base`);
      return { at: index, key };
    });
    const dates = placesOf(text, time.slice(0, dateLength));
    this.#times = dates.filter((at) => text.startsWith(time, at));
    this.#dates = dates.filter((at) => !text.startsWith(time, at));
  }

  get length(): number {
    return this.#bytes.length;
  }

  /** Returns the same bytes for the same identity on every server. `time` is RFC 3339 in seconds, as bytes. */
  render(seed: string, time: Uint8Array): Uint8Array {
    const value = Buffer.from(this.#bytes);
    for (const { at, key } of this.#uids) value.write(baseUid(seed, key), at, 'latin1');
    for (const at of this.#times) value.set(time, at);
    for (const at of this.#dates) value.set(time.subarray(0, dateLength), at);
    markTemplate(value, this);
    return value;
  }
}

function placesOf(text: string, part: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) places.push(at);
  return places;
}
