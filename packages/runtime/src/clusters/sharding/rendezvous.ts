/**
 * Rendezvous hashing: each peer has a score for each cluster, the lowest wins. A peer that joins or leaves moves only the clusters that it
 * wins or had won.
 *
 * The score is `-ln(u) / weight` with u uniform in (0, 1): the time until the first event of a process of that rate, so that the
 * probability to win is exactly the share of the weight. Names are hashed with SHA-256, once each: cheaper hashes mix the last characters
 * of `x-0 … x-4` badly, which is where StatefulSets differ. Pairs are mixed from the two hashes.
 */

import { createHash } from 'node:crypto';
import type { ClusterName } from '../../cluster.ts';

/** 64 bits of a name. */
export interface NameHash {
  readonly high: number;
  readonly low: number;
}

export function hashName(name: string): NameHash {
  const digest = createHash('sha256').update(name).digest();
  return { high: digest.readUInt32LE(0), low: digest.readUInt32LE(4) };
}

/** Short form for lists in annotations. */
export const hashText = ({ high, low }: NameHash): string => high.toString(36) + low.toString(36).padStart(7, '0');

/** The properties of a cluster that determine its owner. */
export interface PlacedCluster {
  readonly name: ClusterName;
  readonly hash: NameHash;
  readonly labels: Readonly<Record<string, string>>;
}

/** The lowest score wins. */
export function score(cluster: NameHash, peer: NameHash, weight: number): number {
  const high = mixed(cluster.high ^ rotated(peer.high, 13) ^ mixed(cluster.low + peer.low));
  const low = mixed(high + (cluster.low ^ rotated(peer.low, 7)));
  // 53 bits, never 0 and never 1.
  const uniform = ((high >>> 0) * 2 ** 21 + (low >>> 11) + 0.5) / 2 ** 53;
  return -Math.log(uniform) / weight;
}

const rotated = (word: number, bits: number): number => (word << bits) | (word >>> (32 - bits));

/** The finalizer of MurmurHash3: every bit of the input changes half of the output's. */
function mixed(word: number): number {
  let mix = word | 0;
  mix = Math.imul(mix ^ (mix >>> 16), 0x85ebca6b);
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35);
  return mix ^ (mix >>> 16);
}
