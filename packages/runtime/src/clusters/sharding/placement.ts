/**
 * Determines the owner of a cluster. The result depends only on name and labels of the cluster and on the entry of a ring, so that all
 * peers agree without communication.
 *
 * Without shards: rendezvous hashing among all members. With static shards: among the members of the shard with a matching selector. If
 * several match, the first shard by id owns the cluster; a shard without a selector owns the clusters that no other shard matches.
 */

import { LabelSelector, parseLabelSelector } from '@hangar/api/selectors';
import { hashName, score } from './rendezvous.ts';
import type { NameHash, PlacedCluster } from './rendezvous.ts';
import type { Member } from './ring.ts';

interface Candidate {
  readonly member: Member;
  readonly hash: NameHash;
}

/** Members that share the clusters of a selector. */
interface Shard {
  readonly selector: LabelSelector | undefined;
  readonly candidates: readonly Candidate[];
}

/** Returns undefined if the cluster has no owner. */
export function ownerOf(cluster: PlacedCluster, members: readonly Member[]): Member | undefined {
  for (const { selector, candidates } of shardsOf(members)) {
    if (selector === undefined || selector.matches(cluster.labels)) return least(cluster.hash, candidates);
  }
  return undefined;
}

function least(cluster: NameHash, candidates: readonly Candidate[]): Member | undefined {
  let first: Member | undefined;
  let firstScore = Infinity;
  for (const { member, hash } of candidates) {
    const own = score(cluster, hash, member.pull);
    if (own < firstScore) {
      first = member;
      firstScore = own;
    }
  }
  return first;
}

/** Computed once for each entry. */
const known = new WeakMap<readonly Member[], readonly Shard[]>();

function shardsOf(members: readonly Member[]): readonly Shard[] {
  let shards = known.get(members);
  if (!shards) known.set(members, (shards = grouped(members)));
  return shards;
}

function grouped(members: readonly Member[]): Shard[] {
  // During a change of its flags a shard may have two selectors: both apply, in the order of their text.
  const byShard = Map.groupBy(members, ({ shard, selector }) =>
    selector === undefined ? '' : JSON.stringify([shard ?? '', selector]),
  );
  const keys = [...byShard.keys()].filter((key) => key !== '').sort();
  if (byShard.has('')) keys.push('');
  return keys.map((key) => {
    const shard = byShard.get(key)!.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    const { selector } = shard[0]!;
    return {
      selector: selector === undefined ? undefined : parsedSelector(selector),
      candidates: shard.map((member) => ({ member, hash: hashName(member.name) })),
    };
  });
}

/** An invalid selector matches nothing: its own peer fails at start, others must not. */
function parsedSelector(text: string): LabelSelector {
  try {
    return parseLabelSelector(text);
  } catch {
    return new LabelSelector([], { matchesNothing: true });
  }
}
