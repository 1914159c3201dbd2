/**
 * The immutable layer that many tenants share: keys relative to a tenant's prefix, in key order. It exists once in memory, for any number
 * of views.
 */

import type { KeyRange } from '../contract.ts';
import { checkKey } from '../keys.ts';
import { SortedMap } from '../engine/sorted-map.ts';

export interface BaseEntry {
  /** The part after the tenant's prefix, e.g. `namespaces/default`. */
  readonly key: string;
  readonly value: Uint8Array;
}

/**
 * The base of a view. Keys and lengths never change; neither do values, though each call of `value` may return a new copy: the same entry
 * can contain a different name or time for each tenant.
 */
export interface Base {
  readonly size: number;
  has(key: string): boolean;
  value(key: string): Uint8Array | undefined;
  /** Length of the value, without creating it; 0 if there is none. */
  valueLength(key: string): number;
  /** In key order. */
  keysIn(range: KeyRange): readonly string[];
}

export class BaseLayer implements Base {
  readonly #entries = new SortedMap<Uint8Array>();

  constructor(entries: Iterable<BaseEntry>) {
    for (const { key, value } of entries) {
      checkKey(key);
      this.#entries.set(key, value);
    }
  }

  get size(): number {
    return this.#entries.size;
  }

  has(key: string): boolean {
    return this.#entries.get(key) !== undefined;
  }

  value(key: string): Uint8Array | undefined {
    return this.#entries.get(key);
  }

  valueLength(key: string): number {
    return this.#entries.get(key)?.length ?? 0;
  }

  keysIn(range: KeyRange): string[] {
    return Array.from(this.#entries.entries(range), ([key]) => key);
  }
}
