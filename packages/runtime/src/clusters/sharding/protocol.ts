/**
 * Every decision that safety rests on, each a function of what is seen. The README of this folder says why they are enough. They
 * are one object so that the simulation can spoil them one by one and show that it notices.
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
  /** Before the request was sent, and when its answer came, both on the own monotonic clock. */
  readonly sentMs: number;
  readonly answeredMs: number;
}

export interface Protocol {
  ownerOf(cluster: PlacedCluster, members: readonly Member[]): Member | undefined;
  /** Until when the peer itself may believe in a renewal. */
  validUntilMs(renewal: Renewal, timings: ShardTimings): number;
  /** How much time has passed, as the two clocks say. */
  elapsedMs(monotonicMs: number, wallMs: number): number;
  /** Whether another one may now try to declare the peer dead. */
  isLate(peer: SeenPeer, observer: Observer): boolean;
  /** Whether it is proven that this life holds nothing and never will. */
  isOver(member: Pick<Member, 'name' | 'id'>, observer: Observer): boolean;
  /** Whether a peer that has acknowledged this may still act on that entry. */
  mayActOn(acknowledgedEpoch: number, entry: RingEntry): boolean;
  /** Whether a peer says that it has not come to rest there. */
  isDraining(record: PeerRecord, cluster: PlacedCluster): boolean;
  /** Returns whether the peer still drains a cluster, so that the epochs that assigned clusters to it stay in the history. */
  hasDrains(record: PeerRecord): boolean;
  /** Whether a new life may take the lease of its name from whoever had it. */
  mayTakeName(former: SeenPeer, observer: Observer): boolean;
  /** Returns whether a peer that sees no ring may create one. */
  mayCreateRing(observer: Observer): boolean;
  /** Of what is acquired under this ring. */
  tokenOf(ring: Ring): number;
}

export const protocol: Protocol = {
  ownerOf,
  validUntilMs: ({ sentMs }, timings) => sentMs + validityMs(timings),
  // A machine that slept: its monotonic clock may have stood still. One whose wall clock was set back: it did not get younger.
  elapsedMs: (monotonicMs, wallMs) => Math.max(monotonicMs, wallMs),
  isLate: ({ record, seenAtMs }, { nowMs }) => record.state !== 'gone' && nowMs - seenAtMs >= record.leaseMs,
  isOver({ name, id }, { view, timings }) {
    const peer = view.peers.get(name);
    // Nobody of the protocol deletes the lease of one who may be alive. If people did: it cannot renew, so its time runs out.
    if (!peer) return view.absentMs(name) >= timings.leaseMs;
    if (peer.record.state === 'gone') return true;
    // The lease has its next life in it, which may come only after; an unreadable one has nobody knows whom.
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

/** The epoch that a member has acknowledged of this ring; 0: none. */
export function acknowledgedBy({ name, id }: Member, view: GroupView, ring: Pick<Ring, 'id'>): number {
  const record = view.peers.get(name)?.record;
  if (record?.id !== id || record.acknowledged?.ring !== ring.id) return 0;
  return record.acknowledged.epoch;
}

/**
 * Somebody else who may still work on the cluster; undefined: nobody can. Precise for each cluster: one that drains slowly delays
 * nothing but itself.
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
