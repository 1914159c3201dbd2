/**
 * Entries that would be stored otherwise now: with another key, or in another version. Writing such an object again,
 * unchanged, renews it, which is how keys are rotated and versions are left behind.
 */

import type { Entry } from '@hangar/store';

const stale = new WeakSet<Entry>();

export function markStale(entry: Entry): Entry {
  stale.add(entry);
  return entry;
}

export const isStale = (entry: Entry): boolean => stale.has(entry);
