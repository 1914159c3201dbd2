import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerStatus, Pod, PodSpec } from '@hangar/client/kinds/core-v1';
import { podStatus } from './pod-status.ts';
import type { StatusInput } from './pod-status.ts';

const running = (name: string, ready = true): ContainerStatus => ({
  name,
  state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
  ready,
  started: true,
  restartCount: 0,
  image: '',
  imageID: '',
});
const ended = (name: string, exitCode: number): ContainerStatus => ({
  ...running(name, exitCode === 0),
  state: { terminated: { exitCode } },
  started: false,
});
const waiting = (name: string): ContainerStatus => ({
  ...running(name, false),
  state: { waiting: { reason: 'ContainerCreating' } },
  started: false,
});

const podOf = (spec: Partial<PodSpec> = {}, status: Pod['status'] = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'default', name: 'a', generation: 2 },
  spec: { containers: [{ name: 'main' }], ...spec },
  status,
});

const statusOf = (input: Partial<StatusInput>) => {
  const status = podStatus({
    pod: podOf(),
    podIP: '127.64.0.2',
    hostIP: '127.0.0.1',
    startTime: '2026-01-01T00:00:00Z',
    initStatuses: [],
    statuses: [running('main')],
    isFinished: false,
    now: '2026-01-01T00:00:09Z',
    ...input,
  });
  const conditions = Object.fromEntries(status.conditions!.map((one) => [one.type, one]));
  return { ...status, of: conditions };
};

test('the phase follows from the containers', () => {
  const cases: [Partial<StatusInput>, string][] = [
    [{ statuses: [running('main')] }, 'Running'],
    [{ statuses: [running('main'), waiting('other')] }, 'Pending'],
    [{ statuses: [ended('main', 1)] }, 'Running'],
    [{ statuses: [ended('main', 0)], isFinished: true }, 'Succeeded'],
    [{ statuses: [ended('main', 1)], isFinished: true }, 'Failed'],
    [{ failure: { reason: 'DeadlineExceeded', message: 'm' } }, 'Failed'],
    [{ pod: podOf({}, { phase: 'Succeeded' }) }, 'Succeeded'],
  ];
  for (const [input, phase] of cases) assert.equal(statusOf(input).phase, phase, JSON.stringify(input));
});

test('a pod is pending until its init containers succeed and its sidecars have started', () => {
  const pod = podOf({ initContainers: [{ name: 'one' }, { name: 'side', restartPolicy: 'Always' }] });
  const before = statusOf({ pod, initStatuses: [ended('one', 0), waiting('side')], statuses: [waiting('main')] });
  assert.equal(before.phase, 'Pending');
  assert.equal(before.of['Initialized']?.status, 'False');
  assert.equal(before.of['Initialized']?.message, 'containers with incomplete status: [side]');
  const after = statusOf({ pod, initStatuses: [ended('one', 0), running('side')] });
  assert.deepEqual(
    [after.phase, after.of['Initialized']?.status, after.of['Ready']?.status],
    ['Running', 'True', 'True'],
  );
  const failed = statusOf({
    pod,
    initStatuses: [ended('one', 1), waiting('side')],
    statuses: [waiting('main')],
    isFinished: true,
  });
  assert.equal(failed.phase, 'Failed');
});

test('readiness needs all containers and all readiness gates', () => {
  const unready = statusOf({ statuses: [running('main', false)] });
  assert.deepEqual(
    [unready.of['Ready']?.status, unready.of['Ready']?.reason, unready.of['Ready']?.message],
    ['False', 'ContainersNotReady', 'containers with unready status: [main]'],
  );
  const gated = podOf({ readinessGates: [{ conditionType: 'example.com/gate' }] });
  const closed = statusOf({ pod: gated });
  assert.deepEqual(
    [closed.of['ContainersReady']?.status, closed.of['Ready']?.reason],
    ['True', 'ReadinessGatesNotReady'],
  );
  const conditions = [{ type: 'example.com/gate', status: 'True' as const }];
  const open = statusOf({ pod: podOf(gated.spec!, { conditions }) });
  assert.equal(open.of['Ready']?.status, 'True');
  assert.equal(open.of['example.com/gate']?.status, 'True');
});

test('the time of a condition stays while its status stays', () => {
  const lastTransitionTime = '2026-01-01T00:00:01Z';
  const conditions = [{ type: 'Ready', status: 'True' as const, lastTransitionTime }];
  const pod = podOf({}, { conditions });
  assert.equal(statusOf({ pod }).of['Ready']?.lastTransitionTime, lastTransitionTime);
  assert.equal(statusOf({ pod }).of['Ready']?.observedGeneration, 2);
  const changed = statusOf({ pod, statuses: [running('main', false)] });
  assert.equal(changed.of['Ready']?.lastTransitionTime, '2026-01-01T00:00:09Z');
});
