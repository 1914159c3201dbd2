/**
 * Bugs that the simulation must find, injected from outside. They prove that its checks can fail. Each breaks one decision of the protocol,
 * or intercepts leases or claims of a peer.
 */

import type { Claim } from '../../contract.ts';
import { recordAnnotation, ringAnnotation } from '../leases.ts';
import type { LeaseDraft, Leases } from '../leases.ts';
import { ownerOf } from '../placement.ts';
import { protocol } from '../protocol.ts';
import type { Protocol } from '../protocol.ts';
import type { PlacedCluster } from '../rendezvous.ts';
import type { Member } from '../ring.ts';

export interface PlantedBug {
  readonly name: string;
  /** A seed that finds the bug, if that took many: tried first. */
  readonly near?: number;
  readonly protocol?: Partial<Protocol>;
  leases?(leases: Leases): Leases;
  claim?(claim: Claim): Claim;
}

export const noBug: PlantedBug = { name: 'none' };

export const plantedBugs: readonly PlantedBug[] = [
  { name: 'hash-of-the-last-character', protocol: { ownerOf: fnvOwner } },
  {
    name: 'rest-before-the-work-ends',
    claim: (claim) => ({ acquired: (ownership) => claim.acquired(ownership), released: () => Promise.resolve() }),
  },
  {
    name: 'validity-from-the-answer',
    near: 89,
    protocol: {
      validUntilMs: ({ answeredMs }, timings) => protocol.validUntilMs({ sentMs: answeredMs, answeredMs }, timings),
    },
  },
  { name: 'no-margin', near: 105, protocol: { validUntilMs: ({ sentMs }, { leaseMs }) => sentMs + leaseMs } },
  {
    name: 'one-failure-is-the-end',
    protocol: { validUntilMs: ({ sentMs }, { renewEveryMs }) => sentMs + renewEveryMs + 200 },
  },
  {
    name: 'late-by-the-wall-clock',
    protocol: {
      isLate: ({ record, renewTime = '' }, { wallMs }) =>
        record.state !== 'gone' && wallMs - Date.parse(renewTime) >= record.leaseMs,
    },
  },
  {
    name: 'late-is-over',
    near: 112,
    protocol: {
      isOver(member, observer) {
        const peer = observer.view.peers.get(member.name);
        return protocol.isOver(member, observer) || (peer !== undefined && protocol.isLate(peer, observer));
      },
    },
  },
  {
    name: 'declared-dead-unconditionally',
    near: 58,
    leases: (leases) => ({ ...leasesAs(leases), write: writeAnyway(leases) }),
  },
  { name: 'deleted-is-over', near: 27, protocol: { isOver: overWhenDeleted } },
  { name: 'name-taken-at-once', near: 10, protocol: { mayTakeName: () => true } },
  { name: 'epoch-off-by-one', protocol: { mayActOn: (epoch, entry) => epoch < entry.epoch } },
  { name: 'draining-is-ignored', protocol: { isDraining: () => false } },
  { name: 'history-is-forgotten', leases: (leases) => altered(leases, withoutHistory) },
  { name: 'history-ignores-drains', near: 598783690002, protocol: { hasDrains: () => false } },
  { name: 'lost-ring-is-created-at-once', near: 422548410800, protocol: { mayCreateRing: () => true } },
  { name: 'nobody-acknowledges', leases: (leases) => altered(leases, withoutAcknowledgement) },
  { name: 'nobody-is-ever-late', protocol: { isLate: () => false } },
  { name: 'a-check-without-time', protocol: { elapsedMs: () => 0 } },
  { name: 'sleep-is-not-time', near: 27, protocol: { elapsedMs: (monotonicMs) => monotonicMs } },
  { name: 'tokens-stand-still', protocol: { tokenOf: () => 1 } },
  { name: 'tokens-of-the-process', protocol: { tokenOf: ({ members }) => members.length } },
];

/** FNV-1a of `cluster|peer`, the highest wins. */
function fnvOwner(cluster: PlacedCluster, members: readonly Member[]): Member | undefined {
  const hash = (text: string): bigint => {
    let value = 0xcbf29ce484222325n;
    for (const byte of Buffer.from(text)) value = ((value ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
    return value;
  };
  if (!ownerOf(cluster, members)) return undefined;
  const scored = members.map((member) => ({ member, value: hash(`${cluster.name}|${member.name}`) }));
  return scored.reduce((a, b) => (b.value > a.value ? b : a)).member;
}

function overWhenDeleted(...[member, observer]: Parameters<Protocol['isOver']>): boolean {
  return !observer.view.peers.has(member.name) || protocol.isOver(member, observer);
}

const leasesAs = (leases: Leases): Leases => ({
  list: (signal) => leases.list(signal),
  watch: (version, signal) => leases.watch(version, signal),
  get: (name, signal) => leases.get(name, signal),
  write: (draft, signal) => leases.write(draft, signal),
  remove: (name, version, signal) => leases.remove(name, version, signal),
});

/** Writes "gone" without a precondition. */
const writeAnyway =
  (leases: Leases): Leases['write'] =>
  async (draft, signal) => {
    if (!draft.annotations[recordAnnotation]?.includes('"endedBy"')) return leases.write(draft, signal);
    const { metadata } = await leases.get(draft.name, signal);
    return leases.write({ ...draft, resourceVersion: metadata.resourceVersion! }, signal);
  };

const altered = (leases: Leases, alter: (draft: LeaseDraft) => LeaseDraft): Leases => ({
  ...leasesAs(leases),
  write: (draft, signal) => leases.write(alter(draft), signal),
});

const withoutHistory = (draft: LeaseDraft): LeaseDraft => withJson(draft, ringAnnotation, { history: [] });
const withoutAcknowledgement = (draft: LeaseDraft): LeaseDraft =>
  withJson(draft, recordAnnotation, { acknowledged: undefined });

function withJson(draft: LeaseDraft, annotation: string, changes: object): LeaseDraft {
  const text = draft.annotations[annotation];
  if (text === undefined) return draft;
  const changed = JSON.stringify({ ...(JSON.parse(text) as object), ...changes });
  return { ...draft, annotations: { ...draft.annotations, [annotation]: changed } };
}
