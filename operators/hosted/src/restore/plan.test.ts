import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { nextAction, podActions } from './plan.ts';
import type { PodProgress, RestoreObservation } from './plan.ts';
import type { RestorePhase, RestoreState } from './state.ts';

const sinceMs = Date.parse('2026-01-01T00:00:00.000Z');
const state = (phase: RestorePhase, change: Partial<RestoreState> = {}): RestoreState => ({
  uid: 'u1',
  phase,
  isNew: false,
  members: 3,
  snapshot: { bytes: 1, sha256: 'a', revision: 5, entries: 2, contentDigest: 'b' },
  bumpRevision: 10,
  failures: 0,
  since: new Date(sinceMs).toISOString(),
  ...change,
});
const stopped = { replicas: 0, pods: 0 };
const seen = (change: Partial<RestoreObservation> = {}): RestoreObservation => ({
  controllers: stopped,
  apiServers: stopped,
  etcd: stopped,
  isHeld: true,
  pods: ['succeeded', 'succeeded', 'succeeded'],
  otherPods: 0,
  isEtcdReady: false,
  isEqual: undefined,
  isPlaneReady: false,
  nowMs: sinceMs,
  ...change,
});
const pods = (...all: PodProgress[]) => seen({ pods: all });
const running = { replicas: 3, pods: 3 };

test('workloads are stopped in the reverse order of their dependencies, after the operator holds them', () => {
  const stopping = (change: Partial<RestoreObservation>) => nextAction(state('Stopping'), seen(change));
  const all = { controllers: running, apiServers: running, etcd: running };
  assert.equal(stopping({ ...all, isHeld: false }).type, 'wait');
  assert.deepEqual(stopping(all), { type: 'scale-down', what: 'controllers' });
  assert.equal(stopping({ ...all, controllers: { replicas: 0, pods: 1 } }).type, 'wait');
  assert.deepEqual(stopping({ ...all, controllers: stopped }), { type: 'scale-down', what: 'api-servers' });
  assert.equal(stopping({ apiServers: { replicas: 0, pods: 1 }, etcd: running }).type, 'wait');
  assert.deepEqual(stopping({ etcd: running }), { type: 'scale-down', what: 'etcd' });
  assert.equal(stopping({ etcd: { replicas: 0, pods: 1 } }).type, 'wait');
  assert.deepEqual(stopping({}), { type: 'go', phase: 'Restoring' });
});

test('pods are created, receive the snapshot, and are created again when they fail', () => {
  const restoring = (all: RestoreObservation) => nextAction(state('Restoring'), all);
  assert.deepEqual(restoring(pods('absent', 'pending', 'absent')), { type: 'create-pods', ordinals: [0, 2] });
  assert.deepEqual(restoring(pods('receiving', 'pending', 'receiving')), { type: 'send', ordinals: [0, 2] });
  assert.deepEqual(restoring(pods('succeeded', 'failed', 'absent')), { type: 'remove-failed', ordinals: [1] });
  for (const other of ['pending', 'running', 'terminating'] as const) {
    assert.equal(restoring(pods('succeeded', 'succeeded', other)).type, 'wait');
  }
  assert.equal(restoring(seen({ otherPods: 1 })).type, 'remove-others');
  assert.deepEqual(restoring(pods('succeeded', 'succeeded', 'succeeded')), { type: 'go', phase: 'Activating' });
});

test('data is put in place only when the pods of all members succeeded', () => {
  const progress = fc.constantFrom<PodProgress>(
    'absent',
    'pending',
    'receiving',
    'running',
    'succeeded',
    'failed',
    'terminating',
  );
  fc.assert(
    fc.property(fc.array(progress, { minLength: 1, maxLength: 5 }), fc.nat(5), (all, failures) => {
      const action = nextAction(state('Restoring', { failures }), seen({ pods: all }));
      if (action.type !== 'go' || action.phase !== 'Activating') return;
      assert.ok(all.every((one) => one === 'succeeded'));
    }),
  );
});

test('after several failures the earlier data is used again; a new control plane has none', () => {
  for (const phase of ['Restoring', 'Activating'] as const) {
    const failed = pods('succeeded', 'failed', 'succeeded');
    const action = nextAction(state(phase, { failures: 3 }), failed);
    assert.deepEqual([action.type, 'phase' in action && action.phase], ['go', 'Reverting']);
    assert.equal(nextAction(state(phase, { failures: 3, isNew: true }), failed).type, 'wait');
  }
});

test('API servers start only when the content of etcd is that of the backup', () => {
  const checking = (change: Partial<RestoreObservation>) => nextAction(state('Checking'), seen(change));
  assert.equal(checking({}).type, 'wait');
  assert.deepEqual(checking({ isEtcdReady: true }), { type: 'compare' });
  assert.deepEqual(checking({ isEtcdReady: true, isEqual: true }), { type: 'go', phase: 'Starting' });
  const different = checking({ isEtcdReady: true, isEqual: false });
  assert.deepEqual([different.type, 'phase' in different && different.phase], ['go', 'Reverting']);
  const late = checking({ nowMs: sinceMs + 3_600_000 });
  assert.deepEqual([late.type, 'phase' in late && late.phase], ['go', 'Reverting']);
});

test('replaced data is removed when the control plane is ready, and put back while etcd is stopped', () => {
  assert.equal(nextAction(state('Starting'), seen()).type, 'wait');
  assert.deepEqual(nextAction(state('Starting'), seen({ isPlaneReady: true })), { type: 'go', phase: 'Cleaning' });
  assert.deepEqual(nextAction(state('Starting', { isNew: true }), seen({ isPlaneReady: true })), { type: 'complete' });
  assert.deepEqual(nextAction(state('Cleaning'), seen()), { type: 'complete' });
  const reverting = state('Reverting', { fault: 'x' });
  assert.deepEqual(nextAction(reverting, seen({ etcd: running })), { type: 'scale-down', what: 'etcd' });
  assert.deepEqual(nextAction(reverting, pods('absent')), { type: 'create-pods', ordinals: [0] });
  assert.deepEqual(nextAction(reverting, seen()), { type: 'complete' });
});

test('no pod uses a volume while etcd runs, except the one that removes replaced data', () => {
  const workload = fc.record({ replicas: fc.option(fc.nat(3), { nil: undefined }), pods: fc.nat(3) });
  const phases = fc.constantFrom(...(Object.keys(podActions) as RestorePhase[]).filter((one) => one === 'Reverting'));
  fc.assert(
    fc.property(phases, workload, fc.boolean(), (phase, etcd, isHeld) => {
      const action = nextAction(state(phase), seen({ etcd, isHeld, pods: ['absent'] }));
      if (action.type === 'create-pods') assert.ok(isHeld && (etcd.replicas ?? 0) === 0 && etcd.pods === 0);
    }),
  );
});
