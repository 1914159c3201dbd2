/** The registry's table has no order of its own; what is shown has. */

import type { ClusterRow } from '../contract.ts';

export const byName = (rows: Iterable<ClusterRow>): ClusterRow[] =>
  [...rows].sort((a, b) => (a.cluster.name < b.cluster.name ? -1 : 1));
