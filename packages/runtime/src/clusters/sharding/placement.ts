/**
 * Which member owns a cluster: a function of the cluster's name and labels and of a ring's entry, and of nothing else, so that all
 * peers agree without a word.
 *
 * Without shards: rendezvous hashing among all. With static shards: among the members of the shard whose selector matches; when the
 * selectors of several match, the first shard by its id has it, and one without selector has what no shard wants.
 */

import { LabelSelector, parseLabelSelector } from '@hangar/api/selectors';
import { hashName, score } from './rendezvous.ts';
import type { NameHash, PlacedCluster } from './rendezvous.ts';
import type { Member } from './ring.ts';

interface Candidate {
  readonly member: Member;
  readonly hash: NameHash;
}

/** Members that share what a selector matches. */
interface Shard {
  readonly selector: LabelSelector | undefined;
  readonly candidates: readonly Candidate[];
}

/** Undefined: nobody's. */
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
  // During a change of its flags a shard may have two selectors: both count, the first by its text first.
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

/** One that cannot be read matches nothing: its peer was refused where it started, others must not fail for it. */
function parsedSelector(text: string): LabelSelector {
  try {
    return parseLabelSelector(text);
  } catch {
    return new LabelSelector([], { matchesNothing: true });
  }
}
