/**
 * Corrects the shares of hashing. Hashing alone is random: of 1,000 clusters a peer of five gets 200 ± 13, and max/min is above 1.25 for
 * every fourth choice of names. The writer of a ring knows the clusters, so it corrects the weights that the hashing uses (`pull`) until
 * the shares match the weights. The correction is part of the ring: every peer still computes the same owner from the ring alone. Because
 * it is small, few clusters move.
 */

import { ownerOf } from './placement.ts';
import type { PlacedCluster } from './rendezvous.ts';
import type { Member } from './ring.ts';

export interface WeighedCluster extends PlacedCluster {
  /** Relative amount of work of the cluster. */
  readonly weight: number;
}

/** Corrected only when the worst member is off by more than this. */
const toleratedMax = 1.15;
/** Stops the iteration below this imbalance. */
const reachedMin = 1.03;
const rounds = 12;
/** With fewer clusters for each member, a difference of one cluster is noise that does not justify moves. */
const clustersMinPerMember = 15;
/** Maximum ratio of pull and weight: clusters that cannot be balanced must not let it diverge. */
const correctionMax = 2;

/** Returns the same members if they are balanced, or cannot be improved. */
export function calibrated(members: readonly Member[], clusters: readonly WeighedCluster[]): readonly Member[] {
  if (members.length < 2 || clusters.length < clustersMinPerMember * members.length) return members;
  const before = imbalance(members, clusters);
  if (before <= toleratedMax) return members;
  let best = members;
  let bestImbalance = before;
  let current = members;
  for (let round = 0; round < rounds && bestImbalance > reachedMin; round++) {
    current = corrected(current, clusters);
    const reached = imbalance(current, clusters);
    if (reached < bestImbalance) [best, bestImbalance] = [current, reached];
  }
  return bestImbalance < before * 0.95 ? best : members;
}

function corrected(members: readonly Member[], clusters: readonly WeighedCluster[]): readonly Member[] {
  const loads = loadsOf(members, clusters);
  const totals = totalsOf(members, loads);
  return members.map((member) => {
    const { load, weight } = totals.get(shardOf(member))!;
    const wanted = (load * member.weight) / weight;
    const factor = (wanted + 1) / (loads.get(member.id)! + 1);
    const pull = Math.min(Math.max(member.pull * factor, member.weight / correctionMax), member.weight * correctionMax);
    return { ...member, pull: Number(pull.toPrecision(6)) };
  });
}

/** Returns the largest share divided by the smallest, each relative to its weight, in the worst shard: 1 is perfect. */
export function imbalance(members: readonly Member[], clusters: readonly WeighedCluster[]): number {
  const loads = loadsOf(members, clusters);
  let worst = 1;
  for (const shard of Map.groupBy(members, shardOf).values()) {
    const shares = shard.map(({ id, weight }) => loads.get(id)! / weight);
    const largest = Math.max(...shares);
    if (largest > 0) worst = Math.max(worst, largest / Math.max(Math.min(...shares), largest / 1_000));
  }
  return worst;
}

const shardOf = ({ shard, selector }: Member): string =>
  selector === undefined ? '' : JSON.stringify([shard, selector]);

function loadsOf(members: readonly Member[], clusters: readonly WeighedCluster[]): Map<string, number> {
  const loads = new Map(members.map(({ id }) => [id, 0]));
  for (const cluster of clusters) {
    const owner = ownerOf(cluster, members);
    if (owner) loads.set(owner.id, loads.get(owner.id)! + cluster.weight);
  }
  return loads;
}

function totalsOf(members: readonly Member[], loads: ReadonlyMap<string, number>) {
  const totals = new Map<string, { load: number; weight: number }>();
  for (const member of members) {
    const total = totals.get(shardOf(member)) ?? { load: 0, weight: 0 };
    total.load += loads.get(member.id)!;
    total.weight += member.weight;
    totals.set(shardOf(member), total);
  }
  return totals;
}
