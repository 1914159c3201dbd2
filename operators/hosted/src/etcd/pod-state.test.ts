import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@hangar/client/kinds/core-v1';
import { podStateOf } from './pod-state.ts';

const nowMs = Date.parse('2026-01-01T00:10:00Z');
const wiped = `couldn't find local name "demo-etcd-1" in the initial cluster configuration`;

/** `etcd`: state of the container. */
function podOf(etcd: object, status: object = {}, metadata: object = {}): Pod {
  const containerStatuses = [{ name: 'etcd', ready: false, restartCount: 1, image: '', imageID: '', ...etcd }];
  return {
    metadata: { uid: 'pod', labels: { 'controller-revision-hash': 'b' }, ...metadata },
    status: { phase: 'Running', containerStatuses, ...status },
  } as unknown as Pod;
}

test('a container that waits after a crash has the loss of its last run, and a running one has none', () => {
  const lastState = { terminated: { exitCode: 1, message: wiped } };
  const crashing = podOf({ state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState });
  assert.partialDeepStrictEqual(podStateOf(crashing, 'b', nowMs), { isCrashing: true, dataLoss: 'Wiped' });
  assert.equal(podStateOf(podOf({ state: { running: {} }, lastState }), 'b', nowMs).dataLoss, undefined);
  const exited = podOf({ state: { terminated: { exitCode: 1, message: wiped } } });
  assert.partialDeepStrictEqual(podStateOf(exited, 'b', nowMs), { isCrashing: false, dataLoss: 'Wiped' });
});

test('a deletion is overdue after its grace period', () => {
  const deleted = podOf({}, {}, { deletionTimestamp: '2026-01-01T00:09:00Z' });
  assert.equal(podStateOf(deleted, 'b', nowMs).overdueMs, 60_000);
  assert.equal(podStateOf(podOf({}), 'b', nowMs).overdueMs, undefined);
});

test('only a volume that no node can use makes a pod unreachable, not a lack of resources', () => {
  const unscheduled = (message: string) =>
    podOf(
      {},
      { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }] },
    );
  const isUnreachable = (message: string) => podStateOf(unscheduled(message), 'b', nowMs).isVolumeUnreachable;
  assert.equal(isUnreachable('0/3 nodes are available: 3 node(s) had volume node affinity conflict.'), true);
  assert.equal(
    isUnreachable("0/3 nodes are available: 3 node(s) didn't match PersistentVolume's node affinity."),
    true,
  );
  assert.equal(isUnreachable('0/3 nodes are available: 3 Insufficient cpu.'), false);
});

test('a pod is up to date with the revision of the StatefulSet', () => {
  assert.equal(podStateOf(podOf({}), 'b', nowMs).isUpToDate, true);
  assert.equal(podStateOf(podOf({}), 'c', nowMs).isUpToDate, false);
});
