/**
 * Maps a view's keys to keys of the store. A tenant's differences have the keys that kube-apiserver would use; a deleted base entry has a
 * tombstone under `.hidden/`, a name that no Kubernetes resource has, inside the tenant's range, so that copying or deleting the range
 * includes the tombstones.
 *
 *     base    namespaces/default  namespaces/kube-public           shared by all
 *     store   /registry/clusters/demo/namespaces/default           demo changed it
 *             /registry/clusters/demo/.hidden/namespaces/kube-public   demo deleted it
 */

import type { KeyRange } from '../contract.ts';
import { StoreError } from '../errors.ts';
import { checkKey, checkRange, intersection, prefixRange } from '../keys.ts';

/** Prefix of the relative keys of base entries that a view deleted. */
export const hiddenName = '.hidden/';

export class Layout {
  readonly prefix: string;
  readonly prefixBytes: number;
  readonly all: KeyRange;
  readonly #hiddenPrefix: string;
  readonly #hidden: KeyRange;

  constructor(prefix: string) {
    checkKey(prefix);
    this.prefix = prefix;
    this.prefixBytes = Buffer.byteLength(prefix);
    this.all = prefixRange(prefix);
    this.#hiddenPrefix = prefix + hiddenName;
    this.#hidden = prefixRange(this.#hiddenPrefix);
  }

  /** Returns the key without the prefix. Throws `InvalidKey` if the key is outside the view. */
  relative(key: string): string {
    checkKey(key);
    if (!this.owns(key) || key === this.prefix) {
      throw new StoreError('InvalidKey', `the key ${JSON.stringify(key)} is not inside ${JSON.stringify(this.prefix)}`);
    }
    return key.slice(this.prefix.length);
  }

  owns(key: string): boolean {
    return key.startsWith(this.prefix) && !key.startsWith(this.#hiddenPrefix);
  }

  tombstone(relative: string): string {
    return this.#hiddenPrefix + relative;
  }

  /** Returns the relative key that a tombstone hides; undefined if the key is not a tombstone. */
  hiddenBy(key: string): string | undefined {
    return key.startsWith(this.#hiddenPrefix) ? key.slice(this.#hiddenPrefix.length) : undefined;
  }

  /** Returns the parts of a range that hold the view's own entries: inside the prefix, around the tombstones. */
  pieces(range: KeyRange): KeyRange[] {
    checkRange(range);
    const inside = intersection(range, this.all);
    if (!inside) return [];
    const before = intersection(inside, { start: '', end: this.#hidden.start });
    const after = intersection(inside, { start: this.#hidden.end! });
    return [before, after].filter((piece) => piece !== undefined);
  }

  /** Maps a range to relative keys, for the base. */
  relativeRange(range: KeyRange): KeyRange | undefined {
    return this.#moved(range, '');
  }

  /** Maps a range to the keys of its tombstones. */
  tombstoneRange(range: KeyRange): KeyRange | undefined {
    return this.#moved(range, this.#hiddenPrefix);
  }

  #moved(range: KeyRange, prefix: string): KeyRange | undefined {
    checkRange(range);
    const inside = intersection(range, this.all);
    if (!inside) return undefined;
    const start = prefix + inside.start.slice(this.prefix.length);
    const toTheEnd = inside.end === undefined || inside.end === this.all.end;
    if (toTheEnd) return prefix === '' ? { start } : { start, end: this.#hidden.end! };
    return { start, end: prefix + inside.end!.slice(this.prefix.length) };
  }
}
