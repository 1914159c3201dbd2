import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConfigMap } from '@hangar/client/kinds/core-v1';
import { bootstrapMembership, closedMembership, membershipData, readMembership } from './membership.ts';
import type { Membership } from './membership.ts';
import { plane } from './testing/observations.ts';

const url = (ordinal: number) => `https://demo-etcd-${ordinal}.etcd-demo.team.svc:2380`;
const read = (data: Record<string, string>) => readMembership({ metadata: {}, data } as ConfigMap);
const joining: Membership = {
  phase: 'joining',
  replicas: 3,
  firstOrdinal: 0,
  recoveries: 0,
  pod: 'demo-etcd-1',
  replaces: 'uid',
  peerUrls: [0, 1, 2].map(url),
};

test('all members may bootstrap', () => {
  const data = membershipData(plane, bootstrapMembership(3));
  const members = [0, 1, 2].map((ordinal) => `demo-etcd-${ordinal}=${url(ordinal)}`);
  assert.equal(data['ETCD_INITIAL_CLUSTER'], members.join(','));
  assert.equal(data['ETCD_INITIAL_CLUSTER_STATE'], 'new');
});

test('no member may start with an empty data directory later, and etcd gets no empty value, which it would replace', () => {
  const data = membershipData(plane, closedMembership(bootstrapMembership(3)));
  assert.doesNotMatch(data['ETCD_INITIAL_CLUSTER']!, /demo-etcd/);
  assert.notEqual(data['ETCD_INITIAL_CLUSTER'], '');
  assert.equal(data['ETCD_INITIAL_CLUSTER_STATE'], 'existing');
});

test('only the member that joins has its own name', () => {
  const data = membershipData(plane, joining);
  assert.equal(data['ETCD_INITIAL_CLUSTER'], `demo-etcd-1=${url(1)},other-0=${url(0)},other-1=${url(2)}`);
  assert.equal(data['ETCD_FORCE_NEW_CLUSTER'], 'false');
});

test('only a recovery makes a new cluster', () => {
  const recovering = { ...closedMembership(joining), phase: 'recovering' as const, pod: 'demo-etcd-1' };
  assert.equal(membershipData(plane, recovering)['ETCD_FORCE_NEW_CLUSTER'], 'true');
});

test('the content is read as it was written, and anything else is refused', () => {
  for (const one of [joining, bootstrapMembership(5), closedMembership(joining)]) {
    assert.deepEqual(
      { ...read(membershipData(plane, one)) },
      { pod: undefined, replaces: undefined, peerUrls: undefined, ...one },
    );
  }
  const data = membershipData(plane, joining);
  assert.equal(read({}), undefined);
  assert.equal(read({ ...data, phase: 'open' }), undefined);
  assert.equal(read({ ...data, replicas: '0' }), undefined);
  assert.equal(read({ ...data, replicas: 'x' }), undefined);
  const { pod, ...without } = data;
  assert.ok(pod !== undefined);
  assert.equal(read(without), undefined);
});
