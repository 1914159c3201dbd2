/**
 * The decisions that safety depends on, each a function of the observed state. The README of this folder proves that they are sufficient.
 * They are one object so that the simulation can break them one by one and verify that it detects that.
 */

import type { GroupView, SeenPeer } from './group-view.ts';
import { unreadableId } from './peer-record.ts';
import type { PeerRecord } from './peer-record.ts';
import { ownerOf } from './placement.ts';
import { hashText } from './rendezvous.ts';
import type { PlacedCluster } from './rendezvous.ts';
import type { Member, Ring, RingEntry } from './ring.ts';
import { validityMs } from './timings.ts';
import type { ShardTimings } from './timings.ts';

export interface Observer {
  readonly view: GroupView;
  readonly timings: ShardTimings;
  readonly nowMs: number;
  readonly wallMs: number;
}

export interface Renewal {
  /** Times of request and response, on the local monotonic clock. */
  readonly sentMs: number;
  readonly answeredMs: number;
}

export interface Protocol {
  ownerOf(cluster: PlacedCluster, members: readonly Member[]): Member | undefined;
  /** Returns the time until which a renewal is valid for the peer itself. */
  validUntilMs(renewal: Renewal, timings: ShardTimings): number;
  /** Returns the elapsed time from both clocks. */
  elapsedMs(monotonicMs: number, wallMs: number): number;
  /** Reports whether another peer may try to declare the peer dead. */
  isLate(peer: SeenPeer, observer: Observer): boolean;
  /** Reports whether this life provably holds nothing and never will. */
  isOver(member: Pick<Member, 'name' | 'id'>, observer: Observer): boolean;
  /** Reports whether a peer that acknowledged this epoch may still act on the entry. */
  mayActOn(acknowledgedEpoch: number, entry: RingEntry): boolean;
  /** Reports whether a peer still drains the cluster. */
  isDraining(record: PeerRecord, cluster: PlacedCluster): boolean;
  /** Returns whether the peer still drains a cluster, so that the epochs that assigned clusters to it stay in the history. */
  hasDrains(record: PeerRecord): boolean;
  /** Reports whether a new life may take over the lease of its name. */
  mayTakeName(former: SeenPeer, observer: Observer): boolean;
  /** Returns whether a peer that sees no ring may create one. */
  mayCreateRing(observer: Observer): boolean;
  /** Returns the fencing token of clusters that are acquired under this ring. */
  tokenOf(ring: Ring): number;
}

export const protocol: Protocol = {
  ownerOf,
  validUntilMs: ({ sentMs }, timings) => sentMs + validityMs(timings),
  // The monotonic clock may stop while the machine sleeps, and the wall clock may be set back: the larger elapsed time counts.
  elapsedMs: (monotonicMs, wallMs) => Math.max(monotonicMs, wallMs),
  isLate: ({ record, seenAtMs }, { nowMs }) => record.state !== 'gone' && nowMs - seenAtMs >= record.leaseMs,
  isOver({ name, id }, { view, timings }) {
    const peer = view.peers.get(name);
    // The protocol never deletes the lease of a peer that may be alive. If a user did, the peer cannot renew, and its time expires.
    if (!peer) return view.absentMs(name) >= timings.leaseMs;
    if (peer.record.state === 'gone') return true;
    // The lease contains its next life, which starts only after the end of this one. An unreadable lease proves nothing.
    return peer.record.id !== id && peer.record.id !== unreadableId;
  },
  mayActOn: (acknowledgedEpoch, entry) => acknowledgedEpoch <= entry.epoch,
  isDraining({ draining, state }, { hash }) {
    return state !== 'gone' && (draining === 'all' || draining.includes(hashText(hash)));
  },
  hasDrains: ({ draining }) => draining.length > 0,
  mayTakeName: (former, observer) => former.record.state === 'gone' || protocol.isLate(former, observer),
  // A peer reports an epoch, so there was a ring. A member of it may hold a cluster although its lease was deleted as well: a peer that
  // never saw that ring does not know the member, and waits until the member is over.
  mayCreateRing: ({ view, timings }) =>
    view.ring !== undefined || view.epochMax === 0 || view.listedForMs >= timings.leaseMs,
  tokenOf: ({ epoch }) => epoch,
};

/** Returns the epoch of this ring that a member has acknowledged; 0: none. */
export function acknowledgedBy({ name, id }: Member, view: GroupView, ring: Pick<Ring, 'id'>): number {
  const record = view.peers.get(name)?.record;
  if (record?.id !== id || record.acknowledged?.ring !== ring.id) return 0;
  return record.acknowledged.epoch;
}

/**
 * Returns another peer that may still work on the cluster; undefined: none. Exact for each cluster: a slow drain delays only its own
 * cluster.
 */
export function otherHolder(
  rules: Protocol,
  observer: Observer,
  { cluster, ring, self }: { readonly cluster: PlacedCluster; readonly ring: Ring; readonly self: string },
): string | undefined {
  const { view } = observer;
  for (const { record } of view.peers.values()) {
    if (record.id !== self && rules.isDraining(record, cluster)) return record.name;
  }
  const isHolding = (member: Member | undefined, entry: RingEntry): boolean =>
    member !== undefined &&
    member.id !== self &&
    rules.mayActOn(acknowledgedBy(member, view, ring), entry) &&
    !rules.isOver(member, observer);
  for (const entry of [...ring.history, ring]) {
    const holder = entry.isMerged
      ? entry.members.find((member) => isHolding(member, entry))
      : rules.ownerOf(cluster, entry.members);
    if (isHolding(holder, entry)) return holder!.name;
  }
  return undefined;
}
