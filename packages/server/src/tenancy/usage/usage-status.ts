/** Converts amounts and usage of a tenant to the form that clients read. */

import type { LastUsage } from './last-usage.ts';

/** Kinds are sorted, times are in seconds. Unknown values are omitted. */
export function usageStatus(usage: LastUsage) {
  const { since, objects, storedBytes, objectsPerKind, reads, writes, watchMs, watches } = usage;
  return {
    since,
    ...(objectsPerKind && { objects, storedBytes, objectsPerKind: inOrder(objectsPerKind) }),
    watches,
    requests: { read: reads, write: writes },
    watchSeconds: Math.round(watchMs) / 1_000,
  };
}

const inOrder = (counts: ReadonlyMap<string, number>) =>
  Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
