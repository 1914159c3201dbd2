/** What a tenant has and has used, as others read it. */

import type { TenantUsage } from './tenant-usage.ts';

/** Kinds in order, times in seconds. */
export function usageStatus(usage: TenantUsage) {
  const { since, objects, storedBytes, objectsPerKind, reads, writes, watchMs, watches } = usage;
  return {
    since,
    objects,
    storedBytes,
    objectsPerKind: Object.fromEntries([...objectsPerKind].sort(([a], [b]) => (a < b ? -1 : 1))),
    watches,
    requests: { read: reads, write: writes },
    watchSeconds: Math.round(watchMs) / 1_000,
  };
}
