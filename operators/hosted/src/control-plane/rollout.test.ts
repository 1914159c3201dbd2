import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Deployment, StatefulSet } from '@hangar/client/kinds/apps-v1';
import type { ContainerStatus, Pod } from '@hangar/client/kinds/core-v1';
import { deploymentReport, memberReport, podTrouble } from './rollout.ts';

const metadata = { name: 'demo', generation: 2 };
const deployment = (replicas: number, status: object): Deployment =>
  ({ metadata, spec: { replicas }, status: { observedGeneration: 2, ...status } }) as Deployment;
const members = (replicas: number, status: object): StatefulSet =>
  ({ metadata, spec: { replicas }, status: { observedGeneration: 2, ...status } }) as StatefulSet;
const counts = (all: number) => ({ replicas: all, updatedReplicas: all, readyReplicas: all, availableReplicas: all });

describe('a Deployment', () => {
  test('is complete when all pods have the template and are available', () => {
    assert.equal(deploymentReport(deployment(3, counts(3))).isComplete, true);
  });

  test('is not complete while an old pod exists, or one is not available', () => {
    assert.equal(deploymentReport(deployment(3, { ...counts(3), replicas: 4 })).isComplete, false);
    assert.equal(deploymentReport(deployment(3, { ...counts(3), availableReplicas: 2 })).isComplete, false);
  });

  test('has no updated pods while its controller has not seen the change', () => {
    const { isComplete, updated } = deploymentReport(deployment(3, { ...counts(3), observedGeneration: 1 }));
    assert.deepEqual([isComplete, updated], [false, 0]);
  });
});

test('etcd has a quorum with more than half of its members', () => {
  const report = (replicas: number, ready: number) =>
    memberReport(members(replicas, { updatedReplicas: replicas, readyReplicas: ready }));
  assert.deepEqual(
    [1, 2, 3].map((ready) => report(3, ready).hasQuorum),
    [false, true, true],
  );
  assert.equal(report(5, 2).hasQuorum, false);
  assert.equal(report(3, 2).isComplete, false);
  assert.equal(report(3, 3).isComplete, true);
});

describe('the trouble of pods', () => {
  const nowMs = Date.parse('2026-11-17T12:00:00Z');
  const pod = (reason: string, message = ''): Pod => {
    const status: ContainerStatus = {
      name: 'etcd',
      image: 'example.com/etcd:1',
      imageID: '',
      ready: false,
      restartCount: 4,
      state: { waiting: { reason, message } },
    };
    return { metadata: { name: 'demo-etcd-0' }, status: { containerStatuses: [status] } } as Pod;
  };

  const reasons: [waiting: string, expected: string | undefined][] = [
    ['ContainerCreating', undefined],
    ['PodInitializing', undefined],
    ['ErrImagePull', 'ImagePullFailed'],
    ['ImagePullBackOff', 'ImagePullFailed'],
    ['InvalidImageName', 'ImagePullFailed'],
    ['CreateContainerConfigError', 'ContainerNotCreated'],
    ['CrashLoopBackOff', 'ContainerCrashes'],
  ];
  for (const [waiting, expected] of reasons) {
    test(`${waiting} is ${expected ?? 'not reported, because it passes'}`, () => {
      assert.equal(podTrouble([pod(waiting)], nowMs)?.reason, expected);
    });
  }

  test('names the pod, the container and the cause', () => {
    const { message } = podTrouble([pod('ErrImagePull', 'not found')], nowMs)!;
    assert.equal(message, 'container etcd of Pod "demo-etcd-0" cannot pull example.com/etcd:1: not found');
  });

  const crashed = (message: string): Pod => {
    const one = pod('CrashLoopBackOff');
    const terminated = { exitCode: 1, message };
    Object.assign(one.status!.containerStatuses![0]!, { lastState: { terminated } });
    return one;
  };

  test('of a crash has the last line of the log', () => {
    const { reason, message } = podTrouble([crashed('starting\npanic: no such file\n')], nowMs)!;
    assert.equal(reason, 'ContainerCrashes');
    assert.equal(message, 'container etcd of Pod "demo-etcd-0" has exited 4 times: panic: no such file');
  });

  test('of a crash names a full volume, also before other lines of the log', () => {
    const { reason, message } = podTrouble(
      [crashed('write wal: no space left on device\ngoroutine 1 [running]')],
      nowMs,
    )!;
    assert.equal(reason, 'NoSpace');
    assert.match(message, /: write wal: no space left on device$/);
  });

  test('includes pods that fit on no node for seconds', () => {
    const scheduled = {
      lastTransitionTime: '2026-11-17T12:00:00Z',
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message: '0/3 nodes are available',
    };
    const unscheduled = { metadata: { name: 'demo-etcd-0' }, status: { conditions: [scheduled] } } as Pod;
    assert.equal(podTrouble([unscheduled], nowMs + 1_000), undefined);
    assert.equal(podTrouble([unscheduled], nowMs + 5_000)?.reason, 'PodUnschedulable');
  });
});
