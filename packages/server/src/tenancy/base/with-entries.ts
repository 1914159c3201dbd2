/** A base with additional entries, which are created when they are first read. */

import { BaseLayer, inRange } from '@hangar/store';
import type { Base, KeyRange } from '@hangar/store';

export const noBase: Base = new BaseLayer([]);

export type MadeEntries = ReadonlyMap<string, () => Uint8Array>;

export function withEntries(base: Base, entries: MadeEntries): Base {
  const value = (key: string): Uint8Array | undefined => entries.get(key)?.() ?? base.value(key);
  return {
    size: base.size + entries.size,
    has: (key) => entries.has(key) || base.has(key),
    value,
    valueLength: (key) => entries.get(key)?.().length ?? base.valueLength(key),
    keysIn(range: KeyRange) {
      const more = [...entries.keys()].filter((key) => inRange(key, range));
      const keys = base.keysIn(range);
      // Keys of a base are ASCII: they sort as strings.
      return more.length === 0 ? keys : [...keys, ...more].sort();
    },
  };
}
