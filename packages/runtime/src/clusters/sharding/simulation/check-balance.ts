/** Names of StatefulSets must be shared evenly before any correction. */

import { protocol } from '../protocol.ts';
import { hashName } from '../rendezvous.ts';
import type { PlacedCluster } from '../rendezvous.ts';
import type { Member } from '../ring.ts';
import type { PlantedBug } from './planted-bugs.ts';
import type { Trace } from './trace.ts';

const clusters: readonly PlacedCluster[] = Array.from({ length: 400 }, (_, i) => ({
  name: `cluster-${i}`,
  hash: hashName(`cluster-${i}`),
  labels: {},
}));
const members: readonly Member[] = Array.from({ length: 5 }, (_, i) => ({
  name: `x-${i}`,
  id: `${i}`,
  weight: 1,
  pull: 1,
}));
/** A random assignment stays below this almost certainly. */
const ratioMax = 2;

export function checkBalance(bug: PlantedBug, trace: Trace): void {
  const owner = bug.protocol?.ownerOf ?? protocol.ownerOf;
  const counts = new Map(members.map(({ id }) => [id, 0]));
  for (const cluster of clusters) {
    const { id } = owner(cluster, members)!;
    counts.set(id, counts.get(id)! + 1);
  }
  const shares = [...counts.values()];
  if (Math.max(...shares) / Math.min(...shares) > ratioMax) trace.fail('balanced', `shares are ${shares.join(', ')}`);
}
