/** Restarts, init containers, probes, hooks and errors of pods, with real processes. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ConfigMap, PersistentVolume, PersistentVolumeClaim, Pod } from '@hangar/client/kinds/core-v1';
import { StorageClass } from '@hangar/client/kinds/storage-v1';
import { find } from '@hangar/client';
import { statOf } from '@hangar/programs';
import { tailOf } from '../logs/tail.ts';
import { storageClassName } from '../storage/claims.ts';
import { Ground, nodeName, shell, until } from '../testing/ground.ts';

const forever = 'trap "exit 0" TERM; while :; do sleep 1 & wait $!; done';
const key = (name: string) => ({ namespace: 'default', name });
const outputOf = (ground: Ground, pod: string, container = 'main'): Promise<string> =>
  tailOf(ground.runtime.pods.byName('default', pod)!.unit(container)!.logPath(), 10_000).catch(() => '');
const waitingReason = async (ground: Ground, name: string): Promise<string | undefined> =>
  (await ground.pod(name))?.status?.containerStatuses?.[0]?.state?.waiting?.reason;

describe('life cycle of a pod', { concurrency: true }, () => {
  test('a container that fails is restarted at once, then backs off', async () => {
    await using ground = await Ground.start();
    await ground.create('crashes', { containers: [shell('echo run; exit 3')] });
    const { status } = await until('the back-off', async () => {
      const pod = await ground.pod('crashes');
      return pod?.status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CrashLoopBackOff' && pod;
    });
    const [container] = status!.containerStatuses!;
    assert.equal(container!.restartCount, 1);
    assert.equal(container!.lastState?.terminated?.exitCode, 3);
    assert.equal(container!.lastState?.terminated?.reason, 'Error');
    assert.match(
      container!.state!.waiting!.message!,
      /^back-off 10s restarting failed container=main pod=crashes_default\(/,
    );
    assert.equal(status!.phase, 'Running');
    await until('the Event', async () =>
      (await ground.events('crashes')).some((event) => event.startsWith('BackOff: ')),
    );
  });

  test('a program that ignores SIGTERM is killed after the grace period, with the status of a killed program', async () => {
    await using ground = await Ground.start();
    const script = 'trap "" TERM; echo deaf; while :; do sleep 1; done';
    await ground.create('deaf', { containers: [shell(script)] }, { finalizers: ['example.com/keep'] });
    await until('the trap', async () => (await outputOf(ground, 'deaf')).includes('deaf'));
    await ground.client.delete(Pod, key('deaf'), { gracePeriodSeconds: 1 });
    const terminated = await until(
      'the end of the program',
      async () => (await ground.pod('deaf'))?.status?.containerStatuses?.[0]?.state?.terminated,
    );
    assert.deepEqual([terminated.exitCode, terminated.reason, terminated.message], [137, 'Error', undefined]);
    await ground.client.patch(Pod, key('deaf'), { type: 'merge', body: { metadata: { finalizers: null } } });
    await ground.isGone('deaf');
  });

  test('a pod that is not restarted succeeds or fails', async () => {
    await using ground = await Ground.start();
    await ground.create('good', { restartPolicy: 'Never', containers: [shell('exit 0')] });
    await ground.create('bad', {
      restartPolicy: 'Never',
      containers: [shell('echo why >&2; exit 4', { terminationMessagePolicy: 'FallbackToLogsOnError' })],
    });
    const phase = (name: string) =>
      until(name, async () => {
        const found = (await ground.pod(name))?.status?.phase;
        return (found === 'Succeeded' || found === 'Failed') && found;
      });
    assert.equal(await phase('good'), 'Succeeded');
    assert.equal(await phase('bad'), 'Failed');
    const { terminated } = (await ground.pod('bad'))!.status!.containerStatuses![0]!.state!;
    assert.deepEqual([terminated!.exitCode, terminated!.message], [4, 'why\n']);
  });

  test('a runtime that stops its pods terminates those with claims last', async () => {
    await using ground = await Ground.start();
    const order = join(ground.folder, 'order');
    // The program without a claim exits a second after the signal: the order does not depend on which one is signalled first.
    const onTerm = (text: string, seconds: number): string =>
      `trap 'sleep ${seconds}; echo ${text} >> ${order}; exit 0' TERM; while :; do sleep 1 & wait $!; done`;
    await ground.client.create(PersistentVolumeClaim, {
      metadata: key('data'),
      spec: { storageClassName, accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    });
    await ground.create('database', {
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
      containers: [shell(onTerm('database', 0))],
    });
    await ground.create('client', { containers: [shell(onTerm('client', 1))] });
    await Promise.all([ground.isReady('database'), ground.isReady('client')]);
    await ground.runtime.close({ pods: 'stop' });
    assert.equal(readFileSync(order, 'utf8'), 'client\ndatabase\n');
    // They start again with the next runtime.
    await ground.startRuntime();
    await until('both run again', () =>
      ['database', 'client'].every((name) => ground.runtime.pods.byName('default', name)?.unit('main')?.isRunning),
    );
  });

  test('a journal that cannot be written does not end the runtime, and the container starts when it can', async () => {
    await using ground = await Ground.start({ backOff: { baseMs: 1, maxMs: 1 } });
    await ground.create('full', { containers: [shell(forever)] });
    const { metadata } = await ground.isReady('full');
    const { pid } = ground.runtime.pods.byName('default', 'full')!.unit('main')!;
    // As on a full disk, the next write fails.
    const blocked = join(ground.folder, 'pods', metadata.uid!, 'pod.json.next');
    mkdirSync(blocked);
    process.kill(pid!, 'SIGKILL');
    await until('the failure', () => ground.lines.some((line) => line.includes('failed to write the journal')));
    const restarts = async () => (await ground.pod('full'))?.status?.containerStatuses?.[0]?.restartCount;
    await until('the end is reported', async () => {
      const state = (await ground.pod('full'))?.status?.containerStatuses?.[0]?.state;
      return state?.terminated?.exitCode === 137;
    });
    assert.equal(await restarts(), 0);
    rmSync(blocked, { recursive: true });
    await until('the restart', async () => (await restarts()) === 1);
  });

  test('a program that restarts often keeps the logs of two runs, and its children do not survive it', async () => {
    await using ground = await Ground.start({ backOff: { baseMs: 1, maxMs: 1 } });
    await ground.create('forks', { containers: [shell('echo run; sleep 1000 & echo $!; exit 1')] });
    const unit = await until('the unit', () => ground.runtime.pods.byName('default', 'forks')?.unit('main'));
    await until('three restarts', () => unit.restartCount >= 3);
    await until('old logs are removed', () => !existsSync(unit.logPath(0)) && !existsSync(unit.logPath(1)));
    const child = await until('a child', async () => {
      const [, text] =
        /run\n(\d+)\n/.exec(await tailOf(unit.logPath(unit.restartCount - 1), 100).catch(() => '')) ?? [];
      return text === undefined ? undefined : Number(text);
    });
    assert.equal(statOf(child), undefined);
  });

  test('a termination message has the last 4096 bytes, as in the kubelet', async () => {
    await using ground = await Ground.start();
    const path = '/tmp/termination-message';
    const script = `head -c 50000 /dev/zero | tr '\\0' x > ${path}; echo the end >> ${path}; exit 2`;
    await ground.create('talks', {
      restartPolicy: 'Never',
      containers: [shell(script, { terminationMessagePath: path })],
    });
    const terminated = await until(
      'the end',
      async () => (await ground.pod('talks'))?.status?.containerStatuses?.[0]?.state?.terminated,
    );
    assert.equal(terminated.message!.length, 4096);
    assert.match(terminated.message!, /^x+the end\n$/);
  });

  test('a runtime that stops its pods starts no new ones', async () => {
    await using ground = await Ground.start();
    const [stopping, started] = [join(ground.folder, 'stopping'), join(ground.folder, 'started')];
    const script = `trap 'touch ${stopping}; sleep 2; exit 0' TERM; while :; do sleep 1 & wait $!; done`;
    await ground.create('slow', { containers: [shell(script)] });
    await ground.isReady('slow');
    const closing = ground.runtime.close({ pods: 'stop' });
    await until('the signal', () => existsSync(stopping));
    await ground.create('late', { containers: [shell(`touch ${started}; ${forever}`)] });
    await closing;
    assert.equal(existsSync(started), false);
    await ground.startRuntime();
    await ground.isReady('late');
  });

  test('init containers run in order before the containers, and a sidecar stays until the end', async () => {
    await using ground = await Ground.start();
    const volumeMounts = [{ name: 'shared', mountPath: '/shared' }];
    await ground.create('ordered', {
      volumes: [{ name: 'shared', emptyDir: {} }],
      restartPolicy: 'Never',
      initContainers: [
        shell('echo one >> /shared/order', { name: 'one', volumeMounts }),
        shell(`echo side >> /shared/order; ${forever}`, {
          name: 'side',
          restartPolicy: 'Always',
          volumeMounts,
          startupProbe: {
            exec: { command: ['grep', 'side', '/shared/order'] },
            periodSeconds: 1,
            timeoutSeconds: 60,
            failureThreshold: 100,
          },
        }),
        shell('echo two >> /shared/order', { name: 'two', volumeMounts }),
      ],
      containers: [shell('cat /shared/order', { volumeMounts })],
    });
    await until('the end', async () => (await ground.pod('ordered'))?.status?.phase === 'Succeeded');
    assert.equal(await outputOf(ground, 'ordered'), 'one\nside\ntwo\n');
    const { initContainerStatuses } = (await ground.pod('ordered'))!.status!;
    assert.deepEqual(
      initContainerStatuses!.map(({ state }) => state?.terminated?.exitCode),
      [0, 0, 0],
    );
  });

  test('a container whose liveness probe fails is restarted, and readiness follows its probe', async () => {
    await using ground = await Ground.start();
    await ground.create('probed', {
      volumes: [{ name: 'shared', emptyDir: {} }],
      containers: [
        shell(`echo x >> /shared/runs; ${forever}`, {
          volumeMounts: [{ name: 'shared', mountPath: '/shared' }],
          livenessProbe: {
            exec: { command: ['sh', '-c', 'test $(wc -l < /shared/runs) -gt 1 || { echo only one run; exit 1; }'] },
            periodSeconds: 1,
            timeoutSeconds: 60,
            failureThreshold: 2,
          },
          readinessProbe: {
            exec: { command: ['sh', '-c', 'test $(wc -l < /shared/runs) -gt 1'] },
            periodSeconds: 1,
            timeoutSeconds: 60,
          },
        }),
      ],
    });
    const pod = await ground.isReady('probed');
    // More than one restart: on a slow machine the first run is killed before it writes its line.
    assert.ok(pod.status!.containerStatuses![0]!.restartCount >= 1);
    const unhealthy = /^Unhealthy: Liveness probe failed: [^]*only one run\n$/;
    await until('the Event', async () => (await ground.events('probed')).some((event) => unhealthy.test(event)));
    const events = await ground.events('probed');
    assert.ok(events.includes('Killing: Container main failed liveness probe, will be restarted'), events.join());
  });

  test('the preStop hook runs before the signal, and a program that ignores it is killed after the grace period', async () => {
    await using ground = await Ground.start();
    await ground.create('hooked', {
      volumes: [{ name: 'shared', hostPath: { path: ground.folder } }],
      containers: [
        shell('trap "echo TERM >> /shared/order; exit 0" TERM; while :; do sleep 1 & wait $!; done', {
          volumeMounts: [{ name: 'shared', mountPath: '/shared' }],
          lifecycle: { preStop: { exec: { command: ['sh', '-c', 'echo preStop >> /shared/order'] } } },
        }),
      ],
    });
    await ground.create('stubborn', {
      terminationGracePeriodSeconds: 1,
      containers: [shell('trap "" TERM; while :; do sleep 1; done')],
    });
    await Promise.all([ground.isReady('hooked'), ground.isReady('stubborn')]);
    await ground.client.delete(Pod, key('hooked'));
    await ground.client.delete(Pod, key('stubborn'));
    await Promise.all([ground.isGone('hooked'), ground.isGone('stubborn')]);
    assert.equal(readFileSync(`${ground.folder}/order`, 'utf8'), 'preStop\nTERM\n');
  });

  test('a missing ConfigMap, an unknown image and a port in use are reported, and the pod starts when they are solved', async () => {
    await using ground = await Ground.start();
    await ground.create('config', {
      containers: [
        shell(forever, { env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'later', key: 'a' } } }] }),
      ],
    });
    await until('config', async () => (await waitingReason(ground, 'config')) === 'CreateContainerConfigError');
    await ground.client.create(ConfigMap, { metadata: key('later'), data: { a: '1' } });
    await ground.isReady('config');

    await ground.create('image', { containers: [{ name: 'main', image: 'example.com/no-such-program:1' }] });
    await until('image', async () =>
      /^(ErrImagePull|ImagePullBackOff)$/.test((await waitingReason(ground, 'image')) ?? ''),
    );

    const server = createServer().listen(0, '0.0.0.0');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await ground.create('port', { containers: [shell(forever, { ports: [{ containerPort: port }] })] });
    await until('port', async () => (await waitingReason(ground, 'port')) === 'CreateContainerError');
    const { message } = (await ground.pod('port'))!.status!.containerStatuses![0]!.state!.waiting!;
    assert.match(message!, new RegExp(`^port ${port} of container "main" is in use on 127\\.`));
    await new Promise((resolve) => server.close(resolve));
    await ground.isReady('port');
  });

  test('with immediate binding, a claim is bound before a pod uses it', async () => {
    await using ground = await Ground.start();
    const modeOf = async () => (await ground.client.get(StorageClass, { name: storageClassName })).volumeBindingMode;
    assert.equal(await modeOf(), 'WaitForFirstConsumer');
    await ground.runtime.close();
    await ground.startRuntime({ claimBinding: 'Immediate' });
    assert.equal(await modeOf(), 'Immediate');
    await ground.client.create(PersistentVolumeClaim, {
      metadata: key('early'),
      spec: { accessModes: ['ReadWriteOnce'], storageClassName, resources: { requests: { storage: '1Gi' } } },
    });
    await until('the claim is bound', async () => {
      const { status } = await ground.client.get(PersistentVolumeClaim, key('early'));
      return status?.phase === 'Bound';
    });
  });

  test('a claim that requests more grows, also with a StorageClass of an earlier release', async () => {
    await using ground = await Ground.start();
    await ground.runtime.close();
    const earlier = { type: 'merge' as const, body: { allowVolumeExpansion: false } };
    await ground.client.patch(StorageClass, { name: storageClassName }, earlier);
    await ground.startRuntime();
    const sized = (storage: string) => ({ resources: { requests: { storage } } });
    const spec = { accessModes: ['ReadWriteOnce' as const], storageClassName, ...sized('1Gi') };
    await ground.client.create(PersistentVolumeClaim, { metadata: key('small'), spec });
    const selected = { metadata: { annotations: { 'volume.kubernetes.io/selected-node': nodeName } } };
    await ground.client.patch(PersistentVolumeClaim, key('small'), { type: 'merge', body: selected });
    const capacity = async (): Promise<unknown> =>
      (await ground.client.get(PersistentVolumeClaim, key('small'))).status?.capacity?.['storage'];
    await until('the claim is bound', async () => (await capacity()) === '1Gi');
    await ground.client.patch(PersistentVolumeClaim, key('small'), { type: 'merge', body: { spec: sized('2Gi') } });
    await until('the claim has grown', async () => (await capacity()) === '2Gi');
    const claim = await ground.client.get(PersistentVolumeClaim, key('small'));
    const volume = await ground.client.get(PersistentVolume, { name: claim.spec!.volumeName! });
    assert.equal(volume.spec!.capacity!['storage'], '2Gi');
  });

  test('a claim is provisioned and bound, keeps its data, and its folder is deleted with it', async () => {
    await using ground = await Ground.start();
    await ground.client.create(PersistentVolumeClaim, {
      metadata: key('data'),
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'hangar-process',
        resources: { requests: { storage: '1Gi' } },
      },
    });
    const writer = (name: string) =>
      ground.create(name, {
        volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
        containers: [
          shell(`echo ${name} >> /data/names; cat /data/names; ${forever}`, {
            volumeMounts: [{ name: 'data', mountPath: '/data' }],
          }),
        ],
      });
    for (const name of ['first', 'second']) {
      await writer(name);
      await ground.isReady(name);
      if (name === 'second') await until('output', async () => (await outputOf(ground, name)) === 'first\nsecond\n');
      await ground.client.delete(Pod, key(name));
      await ground.isGone(name);
    }
    const claim = await ground.client.get(PersistentVolumeClaim, key('data'));
    assert.equal(claim.status?.phase, 'Bound');
    const volume = { name: claim.spec!.volumeName! };
    // The cluster of the test runs no controllers, which would remove the finalizers of unused objects.
    const removeFinalizers = { type: 'merge', body: { metadata: { finalizers: null } } } as const;
    await ground.client.patch(PersistentVolumeClaim, key('data'), removeFinalizers);
    await ground.client.delete(PersistentVolumeClaim, key('data'));
    // Otherwise the controller of the finalizer keeps the volume.
    await until('the volume is released', async () => {
      const { metadata, status } = await ground.client.get(PersistentVolume, volume);
      return metadata.deletionTimestamp !== undefined && status?.phase === 'Released';
    });
    await ground.client.patch(PersistentVolume, volume, removeFinalizers);
    await until('the volume is deleted', async () => !(await find(ground.client, PersistentVolume, volume)));
  });
});
