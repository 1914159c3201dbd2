import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@hangar/client/kinds/core-v1';
import { imageTag, upgradeTrouble, workingWithinMs } from './upgrade-trouble.ts';

const createdMs = Date.parse('2026-01-01T00:00:00Z');
const pod = (tag: string, status: NonNullable<Pod['status']>): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'demo-etcd-0', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { containers: [{ name: 'etcd', image: `registry.k8s.io/etcd:${tag}` }] },
  status,
});
const crashing = (restartCount: number): NonNullable<Pod['status']> => ({
  containerStatuses: [
    {
      name: 'etcd',
      image: 'etcd',
      imageID: '',
      ready: false,
      restartCount,
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState: { terminated: { exitCode: 2, message: 'panic: bad\n' } },
    },
  ],
});
const trouble = (one: Pod, afterMs: number): string | undefined =>
  upgradeTrouble([one], '3.6.8-0', createdMs + afterMs);

test('a member that exits three times does not work', () => {
  assert.equal(trouble(pod('3.6.8-0', crashing(2)), 1), undefined);
  assert.equal(trouble(pod('3.6.8-0', crashing(3)), 1), 'Pod "demo-etcd-0" has exited 3 times: panic: bad');
});

test('a member that is not ready after five minutes does not work', () => {
  assert.equal(trouble(pod('3.6.8-0', {}), workingWithinMs - 1), undefined);
  assert.match(trouble(pod('3.6.8-0', {}), workingWithinMs)!, /is not ready after 5 minutes/);
});

test('ready members, and members with another version, work', () => {
  const ready = { conditions: [{ type: 'Ready', status: 'True' as const }] } as NonNullable<Pod['status']>;
  assert.equal(trouble(pod('3.6.8-0', ready), 1e9), undefined);
  assert.equal(trouble(pod('3.5.26-0', crashing(9)), 1e9), undefined);
});

test('the tag of an image', () => {
  assert.equal(imageTag('localhost:5000/etcd:3.6.8-0'), '3.6.8-0');
  assert.equal(imageTag('r.example/etcd@sha256:abc'), 'sha256:abc');
});
