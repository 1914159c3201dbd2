/**
 * A value of the base as a template: its bytes, and the places where every tenant has something of its own. All of these
 * have a fixed length, so that rendering is a copy and a few writes.
 *
 *     {"kind":"Namespace",…"uid":"________-____-____-____-____________","creationTimestamp":"____________________"…
 *                                 └ of the seed and the key                                └ when the tenant was made
 */

import { assert } from '@hangar/core';
import { markTemplate } from '../../objects/template.ts';
import { baseUid } from './uid.ts';

/** What stands in the values that templates are made of. */
export interface Model {
  /** The time of everything in them, RFC 3339 in seconds. */
  readonly time: string;
  /** uid → key of the object that has it. */
  readonly keys: ReadonlyMap<string, string>;
}

interface UidPlace {
  readonly at: number;
  /** Whose uid; mostly the object's own. */
  readonly key: string;
}

const uidPattern = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const dateLength = 'yyyy-mm-dd'.length;

export class RenderedValue {
  readonly #bytes: Buffer;
  readonly #uids: readonly UidPlace[];
  /** Of whole times, and of dates without a time. */
  readonly #times: readonly number[];
  readonly #dates: readonly number[];

  constructor(value: Uint8Array, { time, keys }: Model) {
    // A copy of its own: what it is made of goes, and would be kept by a view on it.
    this.#bytes = Buffer.from(Uint8Array.from(value).buffer);
    // One character a byte: places in the text are places in the value.
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

  /** The same bytes for the same identity, always and everywhere. `time` is RFC 3339 in seconds, as bytes. */
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
