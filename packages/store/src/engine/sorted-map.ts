/**
 * A map in key order: chunks of sorted keys, found by binary search. An insertion moves at most one chunk's keys, so a
 * million keys cost what a thousand do, plus one more search over the chunks.
 *
 *     chunks  [ a c f ] [ h k ] [ q t x ]      insert i →  [ a c f ] [ h i k ] [ q t x ]
 */

import type { KeyRange } from '../contract.ts';
import { compareKeys } from '../keys.ts';

const chunkLengthMax = 256;

export class SortedMap<V> {
  readonly #values = new Map<string, V>();
  readonly #chunks: string[][] = [];

  get size(): number {
    return this.#values.size;
  }

  get(key: string): V | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: V): void {
    if (!this.#values.has(key)) this.#insert(key);
    this.#values.set(key, value);
  }

  delete(key: string): boolean {
    if (!this.#values.delete(key)) return false;
    const at = this.#chunkOf(key);
    const chunk = this.#chunks[at]!;
    chunk.splice(lowerBound(chunk, key), 1);
    if (chunk.length === 0) this.#chunks.splice(at, 1);
    return true;
  }

  /** In key order. The map must not change during the iteration. */
  *entries(range: KeyRange): Generator<[string, V], void, void> {
    if (this.#chunks.length === 0) return;
    let at = this.#chunkOf(range.start);
    let place = lowerBound(this.#chunks[at]!, range.start);
    for (; at < this.#chunks.length; at++, place = 0) {
      const chunk = this.#chunks[at]!;
      const end = endIn(chunk, range);
      for (; place < end; place++) {
        const key = chunk[place]!;
        yield [key, this.#values.get(key)!];
      }
      if (end < chunk.length) return;
    }
  }

  /** Returns the values of `entries`, at most `limit` of them; 0 means all. */
  values(range: KeyRange, limit = 0): V[] {
    const found: V[] = [];
    if (this.#chunks.length === 0) return found;
    let at = this.#chunkOf(range.start);
    let place = lowerBound(this.#chunks[at]!, range.start);
    for (; at < this.#chunks.length; at++, place = 0) {
      const chunk = this.#chunks[at]!;
      const end = endIn(chunk, range);
      for (; place < end; place++) {
        found.push(this.#values.get(chunk[place]!)!);
        if (found.length === limit) return found;
      }
      if (end < chunk.length) break;
    }
    return found;
  }

  /** Returns the number of keys in the range. */
  count(range: KeyRange): number {
    if (this.#chunks.length === 0) return 0;
    let at = this.#chunkOf(range.start);
    let count = -lowerBound(this.#chunks[at]!, range.start);
    for (; at < this.#chunks.length; at++) {
      const chunk = this.#chunks[at]!;
      const end = endIn(chunk, range);
      count += end;
      if (end < chunk.length) break;
    }
    return Math.max(0, count);
  }

  #insert(key: string): void {
    const last = this.#chunks.at(-1);
    // Keys often come in order, such as those of a range of the store.
    if (!last || compareKeys(last.at(-1)!, key) < 0) {
      if (last && last.length < chunkLengthMax) last.push(key);
      else this.#chunks.push([key]);
      return;
    }
    const at = this.#chunkOf(key);
    const chunk = this.#chunks[at]!;
    chunk.splice(lowerBound(chunk, key), 0, key);
    if (chunk.length > chunkLengthMax) this.#chunks.splice(at + 1, 0, chunk.splice(chunk.length / 2));
  }

  /** Returns the last chunk whose first key is not after `key`, or the first chunk. */
  #chunkOf(key: string): number {
    let low = 0;
    let high = this.#chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (compareKeys(this.#chunks[middle]![0]!, key) <= 0) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** Returns the index behind the last key of the range: mostly the end of the chunk, found with one comparison. */
function endIn(chunk: readonly string[], { end }: KeyRange): number {
  if (end === undefined || compareKeys(chunk.at(-1)!, end) < 0) return chunk.length;
  return lowerBound(chunk, end);
}

/** Returns the index of the first key that is not before `key`. */
function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareKeys(keys[middle]!, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
