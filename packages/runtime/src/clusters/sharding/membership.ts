/** Computes the next ring from the observations of this peer: members, balance and required history. */

import { calibrated } from './calibrate.ts';
import type { WeighedCluster } from './calibrate.ts';
import type { SeenPeer } from './group-view.ts';
import { acknowledgedBy } from './protocol.ts';
import type { Observer, Protocol } from './protocol.ts';
import { mergedEntry, nextRing } from './ring.ts';
import type { Member, Ring, RingEntry } from './ring.ts';

/**
 * Required change, most urgent first: leave (this peer), remove (other peers), repair (the object was lost or damaged), join (this peer),
 * admit (other peers that cannot join by themselves), balance, forget (unneeded history).
 */
export type RingNeed = 'leave' | 'remove' | 'repair' | 'join' | 'admit' | 'balance' | 'forget';

export interface Proposal {
  readonly need: RingNeed;
  readonly ring: Ring;
}

export interface ProposalOptions {
  readonly protocol: Protocol;
  readonly observer: Observer;
  /** Life id of this peer. */
  readonly self: string;
  /** All discovered clusters. */
  readonly clusters: readonly WeighedCluster[];
  /** For a ring that has to be recreated. */
  readonly newRingId: () => string;
}

/** Returns undefined if the ring is up to date. */
export function proposedRing(options: ProposalOptions): Proposal | undefined {
  const { protocol, observer, self, clusters } = options;
  const { view } = observer;
  const ring = view.ringObject?.content;
  if (!view.isListed || (!ring && !protocol.mayCreateRing(observer))) return undefined;
  const former = ring?.members ?? [];
  const staying = former.filter((member) => isStaying(member, options));
  const joining = [...view.peers.values()].filter((peer) => isJoining(peer, former, options)).map(memberOf);
  const members = [...staying, ...joining].sort((a, b) => (a.name < b.name ? -1 : 1));
  // A peer has reported a later epoch than the object has: a peer without that knowledge recreated it.
  const isRepair = !ring || (view.ring !== undefined && (view.ring.id !== ring.id || view.ring.epoch > ring.epoch));
  if (isRepair) return { need: 'repair', ring: ring ? raised(ring, members, options) : madeAnew(members, options) };
  const next = (members: readonly Member[]): Ring =>
    nextRing(ring, { epoch: ring.epoch + 1, members, isNeeded: (entry) => isNeeded(entry, ring, options) });
  const left = former.filter((member) => !staying.includes(member));
  if (left.length + joining.length > 0) {
    const isIn = (list: readonly Member[]) => list.some(({ id }) => id === self);
    const need = isIn(left) ? 'leave' : left.length > 0 ? 'remove' : isIn(joining) ? 'join' : 'admit';
    return { need, ring: next(knowsAll(options) ? calibrated(members, clusters) : members) };
  }
  const history = ring.history.filter((entry) => isNeeded(entry, ring, options));
  if (former[0]?.id === self && knowsAll(options)) {
    const balanced = calibratedOnce(former, clusters);
    if (balanced !== former) return { need: 'balance', ring: next(balanced) };
  }
  return history.length < ring.history.length ? { need: 'forget', ring: { ...ring, history } } : undefined;
}

function isStaying(member: Member, { protocol, observer }: ProposalOptions): boolean {
  const record = observer.view.peers.get(member.name)?.record;
  if (record?.id === member.id && record.state === 'leaving') return false;
  return !protocol.isOver(member, observer);
}

function isJoining(peer: SeenPeer, former: readonly Member[], { protocol, observer }: ProposalOptions): boolean {
  const { id, state, weight } = peer.record;
  if (state !== 'active' || !(weight > 0) || former.some((member) => member.id === id)) return false;
  return !protocol.isLate(peer, observer);
}

function memberOf({ record }: SeenPeer): Member {
  const { name, id, weight, shard, selector } = record;
  const placed = { ...(shard === undefined ? {} : { shard }), ...(selector === undefined ? {} : { selector }) };
  return { name, id, weight, pull: weight, ...placed };
}

/** A peer that has not discovered all clusters would balance for the wrong ones. */
function knowsAll({ observer, clusters }: ProposalOptions): boolean {
  let held = 0;
  for (const { record } of observer.view.peers.values()) held += record.state === 'gone' ? 0 : record.heldCount;
  return clusters.length >= held;
}

const calibrations = new WeakMap<
  readonly Member[],
  { readonly clusters: readonly WeighedCluster[]; readonly members: readonly Member[] }
>();

/** Called on every event; the result changes only with the members and the clusters. */
function calibratedOnce(members: readonly Member[], clusters: readonly WeighedCluster[]): readonly Member[] {
  let known = calibrations.get(members);
  if (known?.clusters !== clusters) {
    calibrations.set(members, (known = { clusters, members: calibrated(members, clusters) }));
  }
  return known.members;
}

/**
 * Returns whether a member may still work on a cluster that the entry assigns to it. A member that acknowledged a later epoch may still
 * drain the cluster. Its lease lists the drain, but the lease can be deleted: then only the entry names the holder.
 */
function isNeeded(entry: RingEntry, ring: Ring, { protocol, observer }: ProposalOptions): boolean {
  const { view } = observer;
  return entry.members.some((member) => {
    if (protocol.isOver(member, observer)) return false;
    const record = view.peers.get(member.name)?.record;
    if (record && protocol.hasDrains(record)) return true;
    return protocol.mayActOn(acknowledgedBy(member, view, ring), entry);
  });
}

/** Returns a ring with an epoch above all reported ones. */
function raised(ring: Ring, members: readonly Member[], options: ProposalOptions): Ring {
  const { view } = options.observer;
  const epoch = view.epochMax + 1;
  return nextRing(ring, { epoch, members, isNeeded: (entry) => isNeeded(entry, ring, options) });
}

/**
 * Recreates a lost ring. The possible holders are lost with it: every peer with a lease, or in the last known ring, may hold any cluster
 * until it has acknowledged the new one. The epoch starts from the clock, so that tokens grow even if no peer remembers the old one.
 */
function madeAnew(members: readonly Member[], { observer, newRingId }: ProposalOptions): Ring {
  const { view, wallMs } = observer;
  const leased = [...view.peers.values()].map(memberOf);
  const last = Math.max(Math.floor(wallMs / 1_000), view.epochMax);
  const anybody = [...(view.ring?.history ?? []), ...(view.ring ? [view.ring] : [])].reduce<RingEntry>(
    (older, newer) => ({ ...mergedEntry(older, newer), epoch: last }),
    { epoch: last, members: leased, isMerged: true },
  );
  return { id: newRingId(), epoch: last + 1, members, history: anybody.members.length > 0 ? [anybody] : [] };
}
