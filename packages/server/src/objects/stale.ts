/**
 * Marks entries that would now be stored differently: with another key, or in another version. Writing such an object unchanged renews it,
 * which is how keys are rotated and versions are migrated.
 */

import type { Entry } from '@hangar/store';

const stale = new WeakSet<Entry>();

export function markStale(entry: Entry): Entry {
  stale.add(entry);
  return entry;
}

export const isStale = (entry: Entry): boolean => stale.has(entry);
