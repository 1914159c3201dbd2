import assert from 'node:assert/strict';
import { test } from 'node:test';
import { confirmedLosses, followLosses, lossSign } from './losses.ts';
import type { Losses } from './losses.ts';
import type { MemberObservation, PodState } from './observation.ts';
import {
  boundClaim,
  healthyMember,
  listedMember,
  memberId,
  observationOf,
  podName,
  readyPod,
} from './testing/observations.ts';

const down = (pod: Partial<PodState>): MemberObservation => ({
  ...healthyMember(1),
  status: undefined,
  podState: { ...readyPod(1), isReady: false, ...pod },
});
const withSecond = (second: MemberObservation) =>
  observationOf({ members: [healthyMember(0), second, healthyMember(2)] });
const signOf = (second: MemberObservation) => lossSign(withSecond(second), second);

test('only lost data and volumes are signs of a loss', () => {
  assert.equal(signOf(healthyMember(1)), undefined);
  assert.equal(signOf(down({})), undefined);
  assert.equal(signOf(down({ isCrashing: true })), undefined);
  assert.equal(signOf(down({ isPending: true })), undefined);
  assert.equal(signOf(down({ overdueMs: -5_000 })), undefined);
  assert.equal(signOf(down({ dataLoss: 'Wiped' })), 'DataDirectoryEmpty');
  assert.equal(signOf(down({ dataLoss: 'Corrupt' })), 'DataCorrupt');
  assert.equal(signOf(down({ isVolumeUnreachable: true })), 'VolumeUnreachable');
  assert.equal(signOf(down({ overdueMs: 5_000 })), 'NodeLost');
  assert.equal(signOf({ ...down({}), claim: { ...boundClaim(1), isLost: true } }), 'VolumeLost');
  // A pod that runs keeps its volume until it ends.
  assert.equal(signOf({ ...healthyMember(1), claim: { ...boundClaim(1), isLost: true } }), undefined);
});

test('a learner that has not started yet may have an empty data directory', () => {
  const learner = { ...down({ dataLoss: 'Wiped' }), member: listedMember(1, { isLearner: true, name: '' }) };
  assert.equal(signOf(learner), undefined);
});

test('the alarm CORRUPT is a sign, although the member is healthy', () => {
  const observation = observationOf({ alarms: [{ type: 'CORRUPT', member: memberId(2) }] });
  assert.equal(lossSign(observation, observation.members[2]!), 'AlarmCorrupt');
  assert.equal(lossSign(observation, observation.members[1]!), undefined);
});

test('a loss is confirmed when the same sign was seen twice and for long enough', () => {
  const wiped = withSecond(down({ dataLoss: 'Wiped' }));
  const first = followLosses(new Map(), wiped, 1_000);
  assert.equal(confirmedLosses(first, 100_000).size, 0);
  const second = followLosses(first, wiped, 4_000);
  assert.equal(confirmedLosses(second, 4_000).size, 0);
  assert.deepEqual([...confirmedLosses(second, 6_000).keys()], [podName(1)]);
});

test('a member that returns, or another sign, begins again', () => {
  const wiped = withSecond(down({ dataLoss: 'Wiped' }));
  const seen = (losses: Losses) => losses.get(podName(1))?.seen;
  const twice = followLosses(followLosses(new Map(), wiped, 0), wiped, 1_000);
  assert.equal(seen(twice), 2);
  assert.equal(seen(followLosses(twice, observationOf(), 2_000)), undefined);
  assert.equal(seen(followLosses(twice, withSecond(down({ dataLoss: 'Corrupt' })), 2_000)), 1);
});

test('a volume or node that could return is lost after ten minutes', () => {
  const gone = withSecond(down({ overdueMs: 5_000 }));
  const twice = followLosses(followLosses(new Map(), gone, 0), gone, 1_000);
  assert.equal(confirmedLosses(twice, 599_999).size, 0);
  assert.equal(confirmedLosses(twice, 600_000).size, 1);
});
