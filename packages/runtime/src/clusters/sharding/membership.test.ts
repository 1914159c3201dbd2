import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import { virtualClock } from '@hangar/testkit';
import { GroupView } from './group-view.ts';
import { peerLeasePrefix, recordAnnotation, ringAnnotation, ringLeaseName } from './leases.ts';
import type { Lease } from './leases.ts';
import { proposedRing } from './membership.ts';
import type { Proposal } from './membership.ts';
import { encodeRecord } from './peer-record.ts';
import type { PeerRecord } from './peer-record.ts';
import { otherHolder, protocol } from './protocol.ts';
import type { Observer } from './protocol.ts';
import { hashName, hashText } from './rendezvous.ts';
import { encodeRing } from './ring.ts';
import type { Member, Ring } from './ring.ts';
import { defaultTimings } from './timings.ts';

const group = 'g';
const cluster = { name: 'c', labels: {}, hash: hashName('c') };
const member = (name: string): Member => ({ name, id: `${name}-life`, weight: 1, pull: 1 });
const [former, owner] = [member('x-0'), member('x-1')];
/** Epoch 1 assigns the cluster to x-0, epoch 2 assigns it to x-1. */
const ring: Ring = { id: 'r', epoch: 2, members: [owner], history: [{ epoch: 1, members: [former] }] };

const record = ({ name, id }: Member, draining: readonly string[] = []): PeerRecord => ({
  name,
  id,
  state: 'active',
  weight: 0,
  leaseMs: defaultTimings.leaseMs,
  epochMax: 2,
  acknowledged: { ring: 'r', epoch: 2 },
  draining,
  heldCount: 0,
});

const leaseOf = (name: string, annotation: string, text: string): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name, resourceVersion: '1', annotations: { [annotation]: text } },
});
const ringLease = (content: Ring): Lease => leaseOf(ringLeaseName(group), ringAnnotation, encodeRing(content));
const peerLease = (said: PeerRecord): Lease =>
  leaseOf(peerLeasePrefix(group) + said.name, recordAnnotation, encodeRecord(said));

function observerOf(leases: readonly Lease[], clock = virtualClock()): Observer {
  const names = { ring: ringLeaseName(group), peerPrefix: peerLeasePrefix(group), unreadableLeaseMs: 10_000 };
  const view = new GroupView(clock, names);
  view.replace(leases);
  return { view, timings: defaultTimings, nowMs: clock.monotonicMs(), wallMs: clock.now() };
}

const proposalTo = (observer: Observer): Proposal | undefined =>
  proposedRing({ protocol, observer, self: owner.id, clusters: [], newRingId: () => 'new' });

describe('an epoch of the history', () => {
  test('stays while a member drains, although all members acknowledged a later epoch', () => {
    const draining = record(former, [hashText(cluster.hash)]);
    assert.equal(proposalTo(observerOf([ringLease(ring), peerLease(draining), peerLease(record(owner))])), undefined);
  });

  test('is dropped when all members acknowledged a later epoch and drain nothing', () => {
    const proposal = proposalTo(observerOf([ringLease(ring), peerLease(record(former)), peerLease(record(owner))]));
    assert.equal(proposal?.need, 'forget');
    assert.deepEqual(proposal.ring.history, []);
  });

  test('stays in the next ring while a member drains', () => {
    const joining = { ...record(member('x-2')), weight: 1 };
    const draining = record(former, [hashText(cluster.hash)]);
    const leases = [draining, record(owner), joining].map(peerLease);
    const proposal = proposalTo(observerOf([ringLease(ring), ...leases]));
    assert.deepEqual(
      proposal?.ring.history.map(({ epoch }) => epoch),
      [1, 2],
    );
  });

  test('names the member as holder when its lease with the drain was deleted', () => {
    const observer = observerOf([ringLease(ring), peerLease(record(owner))]);
    assert.equal(otherHolder(protocol, observer, { cluster, ring, self: owner.id }), 'x-0');
  });
});

describe('a ring that does not exist', () => {
  const newcomer = { ...record(owner), weight: 1, epochMax: 0 };

  test('is created at once when no peer reports an epoch', () => {
    assert.equal(proposalTo(observerOf([peerLease(newcomer)]))?.need, 'repair');
  });

  test('is created at once by a peer that saw the lost ring', () => {
    const observer = observerOf([ringLease(ring), peerLease(record(owner))]);
    observer.view.replace([peerLease(record(owner))]);
    const proposal = proposalTo(observer);
    assert.equal(proposal?.need, 'repair');
    assert.ok(proposal.ring.history[0]?.members.some(({ id }) => id === former.id));
  });

  test('is created only after the length of a lease when a peer reports an epoch of a ring that was never seen', async () => {
    const clock = virtualClock();
    const observer = observerOf([peerLease(newcomer), peerLease(record(member('x-2')))], clock);
    assert.equal(proposalTo(observer), undefined);
    await clock.advance(defaultTimings.leaseMs - 1);
    assert.equal(proposalTo(observer), undefined);
    await clock.advance(1);
    assert.equal(proposalTo(observer)?.need, 'repair');
  });
});
