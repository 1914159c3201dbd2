/**
 * Lists that Kubernetes declares as sets or as maps of a key: equality ignores order, and `a + b` merges: elements of
 * `b` replace those of `a` with the same key in place (or are dropped when equal, in sets), new ones are appended.
 */

import { equal } from './equality.ts';
import { CelList, ValueList } from './list.ts';
import { CelMap } from './map.ts';
import { work } from '../work.ts';
import type { CelValue } from './values.ts';

const nsPerKey = 50;

export class JsonKeyedList extends CelList {
  readonly #json: readonly unknown[];
  readonly #adapt: (raw: unknown) => CelValue;
  /** Empty for sets: the element is the key. */
  readonly #keys: readonly string[];

  constructor(json: readonly unknown[], adapt: (raw: unknown) => CelValue, keys: readonly string[]) {
    super();
    this.#json = json;
    this.#adapt = adapt;
    this.#keys = keys;
  }

  override get size(): number {
    return this.#json.length;
  }

  override at(index: number): CelValue {
    return this.#adapt(this.#json[index]);
  }

  override equals(other: CelList): boolean {
    if (other.size !== this.size) return false;
    const rest = other.toArray();
    return this.toArray().every((element) => {
      const at = rest.findIndex((candidate) => equal(candidate, element));
      work(rest.length);
      if (at !== -1) rest.splice(at, 1);
      return at !== -1;
    });
  }

  override concat(other: CelList): CelList {
    const merged = this.toArray();
    for (const element of other) {
      const at = merged.findIndex((candidate) => this.#same(candidate, element));
      if (at === -1) merged.push(element);
      else merged[at] = element;
    }
    return new ValueList(merged);
  }

  #same(a: CelValue, b: CelValue): boolean {
    work(nsPerKey * this.#keys.length);
    if (this.#keys.length === 0) return equal(a, b);
    if (!(a instanceof CelMap) || !(b instanceof CelMap)) return false;
    return this.#keys.every((key) => {
      const left = a.find(key);
      const right = b.find(key);
      return left === undefined || right === undefined ? left === right : equal(left, right);
    });
  }
}
