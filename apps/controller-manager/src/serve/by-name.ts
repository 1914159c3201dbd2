/** Sorts rows by name: the registry's table is unordered. */

import type { ClusterRow } from '../contract.ts';

export const byName = (rows: Iterable<ClusterRow>): ClusterRow[] =>
  [...rows].sort((a, b) => (a.cluster.name < b.cluster.name ? -1 : 1));
