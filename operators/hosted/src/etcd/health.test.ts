import assert from 'node:assert/strict';
import { test } from 'node:test';
import { healthOf } from './health.ts';
import type { Losses } from './losses.ts';
import { quorumLossMessage } from './quorum-loss.ts';
import {
  healthyMember,
  listedMember,
  memberId,
  notMember,
  observationOf,
  readyPod,
  statusOf,
} from './testing/observations.ts';

const none: Losses = new Map();

test('a healthy cluster has roles and sizes, and no change', () => {
  const { members, change, isQuorumLost, dbSizeBytes } = healthOf(observationOf(), none);
  assert.deepEqual(
    members.map(({ name, id, role, isHealthy, revision }) => [name, id, role, isHealthy, revision]),
    [
      ['demo-etcd-0', memberId(0), 'Leader', true, undefined],
      ['demo-etcd-1', memberId(1), 'Follower', true, undefined],
      ['demo-etcd-2', memberId(2), 'Follower', true, undefined],
    ],
  );
  assert.deepEqual([change, isQuorumLost, dbSizeBytes], [undefined, false, 2 ** 20]);
});

test('losses and changes are described', () => {
  const lost: Losses = new Map([['demo-etcd-1', { reason: 'DataCorrupt', sinceMs: 0, seen: 1 }]]);
  const down = { ...healthyMember(1), status: undefined };
  const members = [healthyMember(0), down, healthyMember(2)];
  assert.equal(
    healthOf(observationOf({ members }), lost).change,
    'member "demo-etcd-1" is lost (DataCorrupt) and is replaced; changes wait until the other members are healthy',
  );
  const learner = { ...healthyMember(1), member: listedMember(1, { isLearner: true }) };
  assert.match(
    healthOf(observationOf({ members: [healthyMember(0), learner] }), none).change!,
    /is a learner.*2 of 3 members/,
  );
});

test('a lost quorum is reported with the revisions of the members that respond, and the command', () => {
  const alone = {
    ...healthyMember(0),
    status: { ...statusOf(0, { leader: undefined }), revision: 77 as never },
    podState: { ...readyPod(0), isReady: false },
  };
  const observation = observationOf({
    members: [alone, notMember(1), notMember(2)],
    hasQuorum: false,
    membership: { replicas: 3 },
  });
  const health = healthOf(observation, none);
  assert.equal(health.isQuorumLost, true);
  const plane = { metadata: { namespace: 'team', name: 'demo' }, spec: { version: 'v1.36.4' } };
  assert.equal(
    quorumLossMessage(plane as never, health),
    'etcd has no quorum: "demo-etcd-1", "demo-etcd-2" do not answer, "demo-etcd-0" answers with revision 77. If the members do not return, run "hangar etcd recover demo -n team"',
  );
});

test('members that only the operator cannot reach have not lost their quorum', () => {
  const members = [0, 1, 2].map((ordinal) => ({ ...healthyMember(ordinal), status: undefined }));
  assert.equal(healthOf(observationOf({ members, hasQuorum: false }), none).isQuorumLost, false);
});
