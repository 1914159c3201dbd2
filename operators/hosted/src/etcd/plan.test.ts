import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import type { Loss, Losses, LossReason } from './losses.ts';
import { healthyVoters, isHealthy, isVoter, quorumOf, voters } from './observation.ts';
import type { EtcdObservation, MemberObservation } from './observation.ts';
import { planNext } from './plan.ts';
import type { Action } from './plan.ts';
import {
  boundClaim,
  healthyMember,
  listedMember,
  memberId,
  notMember,
  observationOf,
  podName,
  readyPod,
  statusOf,
} from './testing/observations.ts';

const lost = (...pods: readonly number[]): Losses =>
  new Map(pods.map((ordinal) => [podName(ordinal), { reason: 'DataDirectoryEmpty', sinceMs: 0, seen: 2 } as Loss]));
const none: Losses = new Map();
const crashed = (ordinal: number): MemberObservation => ({
  ...healthyMember(ordinal),
  status: undefined,
  podState: { ...readyPod(ordinal), isReady: false, isCrashing: true, dataLoss: 'Wiped' },
});
const learner = (ordinal: number, isStarted: boolean): MemberObservation => ({
  ...healthyMember(ordinal),
  member: listedMember(ordinal, { isLearner: true, ...(isStarted ? {} : { name: '' }) }),
  status: isStarted ? statusOf(ordinal, { isLearner: true }) : undefined,
});
const outdated = (ordinal: number): MemberObservation => ({
  ...healthyMember(ordinal),
  podState: { ...readyPod(ordinal), isUpToDate: false },
});
const joining = (ordinal: number, replaces?: string) => {
  const peerUrls = [0, 1, 2].map((one) => healthyMember(one).peerUrl);
  return { phase: 'joining' as const, pod: podName(ordinal), replaces, peerUrls };
};
const [m0, m1, m2] = [healthyMember(0), healthyMember(1), healthyMember(2)];

const cases: Readonly<Record<string, readonly [EtcdObservation, Losses, Partial<Action> | undefined]>> = {
  'a healthy cluster needs nothing': [observationOf(), none, undefined],
  'a member that only does not answer is left alone': [
    observationOf({ members: [m0, { ...m1, status: undefined }, m2] }),
    none,
    undefined,
  ],
  'a lost member is removed': [
    observationOf({ members: [m0, crashed(1), m2] }),
    lost(1),
    { type: 'removeMember', member: memberId(1) },
  ],
  'a lost member stays while another one is unhealthy': [
    observationOf({ members: [m0, crashed(1), { ...m2, status: undefined }] }),
    lost(1),
    undefined,
  ],
  'a removed member is added as a learner': [
    observationOf({ members: [m0, notMember(1, { podState: crashed(1).podState, claim: boundClaim(1) }), m2] }),
    none,
    { type: 'addLearner', pod: podName(1) },
  ],
  'a new learner may start with an empty volume': [
    observationOf({ members: [m0, { ...learner(1, false), claim: boundClaim(1) }, m2] }),
    none,
    { type: 'setMembership' },
  ],
  'its old volume is emptied': [
    observationOf({ members: [m0, learner(1, false), m2], membership: joining(1, 'claim-1') }),
    none,
    { type: 'emptyVolume', claim: 'claim-1' },
  ],
  'its new volume is kept': [
    observationOf({ members: [m0, learner(1, false), m2], membership: joining(1, 'claim-old') }),
    none,
    undefined,
  ],
  'a learner that has started may not start with an empty volume again': [
    observationOf({ members: [m0, learner(1, true), m2], membership: joining(1, 'claim-old') }),
    none,
    { type: 'setMembership', why: 'the learner has started' },
  ],
  'a learner is promoted when the settings are closed': [
    observationOf({ members: [m0, learner(1, true), m2] }),
    none,
    { type: 'promote', member: memberId(1) },
  ],
  'a learner is not promoted while a voter is unhealthy': [
    observationOf({ members: [m0, learner(1, true), { ...m2, status: undefined }] }),
    none,
    undefined,
  ],
  'a larger cluster gets a learner before its pod': [
    observationOf({ desired: 3, members: [m0, notMember(1), notMember(2)], membership: { replicas: 1 } }),
    none,
    { type: 'addLearner', pod: podName(1) },
  ],
  'the data of an earlier member is deleted before its pod exists': [
    observationOf({
      desired: 3,
      members: [m0, notMember(1, { claim: boundClaim(1) }), notMember(2)],
      membership: { replicas: 1 },
    }),
    none,
    { type: 'deleteClaim', pod: podName(1) },
  ],
  'a smaller cluster loses its highest member first': [
    observationOf({ desired: 1, members: [m0, m1, m2] }),
    none,
    { type: 'removeMember', pod: podName(2), why: 'ScaleDown' },
  ],
  'a leader hands over before it is removed': [
    observationOf({
      desired: 1,
      members: [m0, m1, m2].map((one) => ({ ...one, status: statusOf(one.ordinal, { leader: memberId(2) }) })),
    }),
    none,
    { type: 'moveLeader', from: podName(2), to: memberId(0) },
  ],
  'the pod and the volume of a removed member are deleted': [
    observationOf({ desired: 1, members: [m0, notMember(1, { podState: readyPod(1), claim: boundClaim(1) })] }),
    none,
    { type: 'releasePod', pod: podName(1), claim: 'claim-1' },
  ],
  'the last member is never removed': [observationOf({ desired: 1, members: [crashed(0)] }), lost(0), undefined],
  'the highest follower with an old template restarts first': [
    observationOf({ members: [outdated(0), outdated(1), outdated(2)] }),
    none,
    { type: 'restartPod', pod: podName(2) },
  ],
  'the leader restarts last, after it has handed over': [
    observationOf({ members: [outdated(0), m1, m2] }),
    none,
    { type: 'moveLeader', from: podName(0) },
  ],
  'no member restarts while another one is not ready': [
    observationOf({
      members: [{ ...m0, status: undefined, podState: { ...readyPod(0), isReady: false } }, m1, outdated(2)],
    }),
    none,
    undefined,
  ],
  'a pod that crashes gets the new template at once': [
    observationOf({ members: [m0, { ...crashed(1), podState: { ...crashed(1).podState!, isUpToDate: false } }, m2] }),
    none,
    { type: 'restartPod', pod: podName(1) },
  ],
  'nothing happens before the StatefulSet follows': [
    observationOf({ members: [m0, crashed(1), m2], set: { isObserved: false } }),
    lost(1),
    undefined,
  ],
};

describe('the next action', () => {
  for (const [name, [observation, losses, expected]] of Object.entries(cases)) {
    test(name, () => {
      const action = planNext(observation, losses);
      assert.deepEqual(action && expected ? { ...action, ...expected } : expected, action);
    });
  }
});

describe('recovery from a survivor', () => {
  const dead = (ordinal: number): MemberObservation => ({
    ...crashed(ordinal),
    podState: { ...readyPod(ordinal), isReady: false },
  });
  const alone = (ordinal: number): MemberObservation => ({
    ...dead(ordinal),
    status: statusOf(ordinal, { leader: undefined }),
  });

  test('happens only on request', () => {
    assert.equal(planNext(observationOf({ members: [dead(0), alone(1), dead(2)], hasQuorum: false }), none), undefined);
  });

  test('makes the survivor the only pod', () => {
    const members = [dead(0), alone(1), dead(2)];
    const action = planNext(observationOf({ members, hasQuorum: false, recoverFrom: podName(1) }), none);
    assert.ok(action?.type === 'setMembership');
    const { phase, replicas, firstOrdinal, recoveries } = action.membership;
    assert.deepEqual([phase, replicas, firstOrdinal, recoveries], ['recovering', 1, 1, 1]);
  });

  test('does not begin while there is a quorum', () => {
    const action = planNext(observationOf({ recoverFrom: podName(1) }), none);
    assert.deepEqual(action, { type: 'clearRequest' });
  });

  const membership = { phase: 'recovering' as const, replicas: 1, firstOrdinal: 1, pod: podName(1), recoveries: 1 };

  test('waits until the other pods are gone', () => {
    const members = [dead(0), alone(1), notMember(2, { claim: boundClaim(2) })];
    const observation = observationOf({ members, hasQuorum: false, membership: { ...membership, replaces: 'pod-1' } });
    assert.equal(planNext(observation, none), undefined);
  });

  test('restarts the survivor with the new settings', () => {
    const members = [notMember(0, { claim: boundClaim(0) }), alone(1), notMember(2)];
    const observation = observationOf({ members, hasQuorum: false, membership: { ...membership, replaces: 'pod-1' } });
    assert.deepEqual(planNext(observation, none), {
      type: 'restartPod',
      pod: podName(1),
      podUid: 'pod-1',
      isForced: false,
    });
  });

  test('closes the settings when the survivor is the only member, and then adds the others', () => {
    const one = { ...m1, status: statusOf(1, { leader: memberId(1) }) };
    const members = [notMember(0, { claim: boundClaim(0) }), one, notMember(2)];
    const closing = planNext(observationOf({ members, membership: { ...membership, replaces: 'pod-0' } }), none);
    assert.ok(closing?.type === 'setMembership' && closing.membership.phase === 'closed');
    const next = observationOf({ members, membership: closing.membership, set: { isComplete: true } });
    assert.deepEqual(planNext(next, none), { type: 'deleteClaim', pod: podName(0), claim: 'claim-0' });
    const after = observationOf({ members: [notMember(0), one, notMember(2)], membership: closing.membership });
    assert.partialDeepStrictEqual(planNext(after, none), { type: 'addLearner', pod: podName(0) });
  });
});

describe('any observation', () => {
  const podState = fc.option(
    fc.record({
      uid: fc.constantFrom('pod-a', 'pod-b'),
      isReady: fc.boolean(),
      overdueMs: fc.option(fc.integer({ min: -30_000, max: 700_000 }), { nil: undefined }),
      isCrashing: fc.boolean(),
      isPending: fc.boolean(),
      dataLoss: fc.option(fc.constantFrom('Wiped' as const, 'Removed' as const, 'Corrupt' as const), {
        nil: undefined,
      }),
      isVolumeUnreachable: fc.boolean(),
      isUpToDate: fc.boolean(),
    }),
    { nil: undefined, freq: 8 },
  );
  const claim = fc.option(
    fc.record({ uid: fc.constantFrom('claim-a', 'claim-b'), isLost: fc.boolean(), isTerminating: fc.boolean() }),
    { nil: undefined, freq: 8 },
  );
  const shape = fc.record({
    role: fc.constantFrom('voter', 'voter', 'voter', 'learner', 'unstarted', 'none'),
    answers: fc.constantFrom(true, true, true, false),
    hasLeader: fc.constantFrom(true, true, true, false),
    podState,
    claim,
  });
  const observation = fc
    .record({
      desired: fc.constantFrom(1, 3, 5),
      shapes: fc.array(shape, { minLength: 1, maxLength: 5 }),
      leader: fc.nat(4),
      phase: fc.constantFrom('closed' as const, 'closed' as const, 'joining' as const, 'recovering' as const),
      pod: fc.nat(4),
      replaces: fc.constantFrom('claim-a', 'claim-b', 'pod-a', undefined),
      outside: fc.nat(2),
      hasQuorum: fc.boolean(),
      recoverFrom: fc.option(fc.nat(4), { nil: undefined, freq: 4 }),
    })
    .map(({ desired, shapes, leader, phase, pod, replaces, outside, hasQuorum, recoverFrom }) => {
      const count = Math.max(desired, shapes.length);
      const replicas = Math.max(1, count - outside);
      const all = Array.from({ length: count }, (_, ordinal): MemberObservation => {
        const drawn = shapes[ordinal];
        const one = drawn && ordinal >= replicas ? { ...drawn, podState: undefined } : drawn;
        if (!one || one.role === 'none') return notMember(ordinal, { podState: one?.podState, claim: one?.claim });
        const isLearner = one.role !== 'voter';
        const name = one.role === 'unstarted' ? '' : podName(ordinal);
        const status = statusOf(ordinal, { leader: one.hasLeader ? memberId(leader) : undefined, isLearner });
        return {
          ...notMember(ordinal, { podState: one.podState, claim: one.claim }),
          member: listedMember(ordinal, { isLearner, name }),
          status: one.answers && name !== '' ? status : undefined,
        };
      });
      const peerUrls = all.flatMap(({ member }) => member?.peerUrls ?? []);
      const membership = { phase, replicas, pod: podName(pod), replaces, peerUrls };
      return observationOf({
        desired,
        members: all,
        membership: phase === 'closed' ? { phase, replicas } : membership,
        hasQuorum,
        ...(recoverFrom === undefined ? {} : { recoverFrom: podName(recoverFrom) }),
      });
    });
  const losses = fc
    .uniqueArray(fc.nat(4), { maxLength: 3 })
    .map(
      (pods) =>
        new Map(pods.map((ordinal) => [podName(ordinal), { reason: 'VolumeLost' as LossReason, sinceMs: 0, seen: 3 }])),
    );

  test('never leads to an action that endangers the quorum', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(observation, losses, (one, confirmed) => {
        const action = planNext(one, confirmed);
        if (!action) return;
        seen.add(action.type);
        check(one, action);
      }),
      { numRuns: 20_000, seed: 18 },
    );
    const all = ['setMembership', 'removeMember', 'addLearner', 'promote', 'moveLeader', 'emptyVolume', 'restartPod'];
    for (const type of [...all, 'deleteClaim', 'releasePod', 'clearRequest'])
      assert.ok(seen.has(type), `${type} was never planned`);
  });

  function check(one: EtcdObservation, action: Action): void {
    const total = voters(one).length;
    const healthy = healthyVoters(one);
    const target = one.members.find(({ pod }) => 'pod' in action && pod === action.pod);
    const others = healthy.filter(({ pod }) => pod !== target?.pod).length;
    switch (action.type) {
      case 'removeMember':
        assert.ok(healthy.length >= quorumOf(total));
        if (isVoter(target!)) assert.ok(total > 1 && others >= quorumOf(total - 1));
        break;
      case 'restartPod':
        if (!isVoter(target!) || !isHealthy(target!) || one.membership.phase === 'recovering') break;
        assert.ok(total === 1 || others >= quorumOf(total));
        break;
      case 'emptyVolume':
        assert.ok(
          target!.member?.isLearner && target!.member.name === '',
          'only the data of a learner that never started',
        );
        break;
      case 'releasePod':
      case 'deleteClaim':
        assert.equal(target!.member, undefined, 'only the data of a pod that is not a member');
        break;
      case 'addLearner':
        assert.ok(healthy.length === total && one.listed!.every(({ isLearner }) => !isLearner));
        break;
      case 'promote':
        assert.ok(healthy.length === total && isHealthy(target!));
        break;
      case 'setMembership':
        if (action.membership.phase === 'joining') {
          const pod = one.members.find(({ pod: name }) => name === action.membership.pod);
          assert.ok(
            pod!.member?.isLearner && pod!.member.name === '',
            'only a new learner may start with an empty volume',
          );
        }
        if (action.membership.phase === 'recovering')
          assert.ok(one.listed === undefined && one.recoverFrom !== undefined);
        break;
      default:
    }
  }
});
