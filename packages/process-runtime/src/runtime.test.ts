/** Pods as real processes, on a cluster in process: in mount namespaces where the machine permits them, and with rewritten paths. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Node, Pod, Secret } from '@hangar/client/kinds/core-v1';
import { Logger, systemClock } from '@hangar/core';
import { statOf } from '@hangar/programs';
import { startTestCluster } from '@hangar/testkit';
import { programsInPath } from './images/resolver.ts';
import { tailOf } from './logs/tail.ts';
import { startProcessRuntime } from './runtime.ts';
import { Ground, nodeName, shell, until } from './testing/ground.ts';

const forever = 'trap "exit 0" TERM; while :; do sleep 1 & wait $!; done';

for (const mounts of [undefined, 'rewrite'] as const) {
  const way = mounts ?? 'the detected way of mounting';

  test(`a pod runs, reports its status, and ends with its object (${way})`, async () => {
    await using ground = await Ground.start({ mounts });
    await ground.create('web', {
      containers: [
        shell(`echo hello from $(POD_NAME); ${forever}`, {
          env: [
            { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
            // Variables that would change a shell between the runtime and the program.
            { name: 'BASH_ENV', value: '/dev/null/none' },
            { name: 'SHELLOPTS', value: 'xtrace:noexec' },
          ],
        }),
      ],
    });
    const pod = await ground.isReady('web');
    assert.equal(pod.status?.phase, 'Running');
    assert.match(pod.status?.podIP ?? '', /^127\./);
    assert.equal(pod.status?.containerStatuses?.[0]?.restartCount, 0);
    const unit = ground.runtime.pods.byName('default', 'web')!.unit('main')!;
    const output = await until(
      'output',
      async () => (await tailOf(unit.logPath(), 1_000).catch(() => '')) || undefined,
    );
    assert.equal(output, 'hello from web\n');
    await ground.client.delete(Pod, {
      namespace: 'default',
      name: 'web',
    });
    await ground.isGone('web');
    await until('the worker is gone', () => ground.runtime.pods.size === 0);
  });

  test(`files of a Secret are at the path of the mount, and are updated (${way})`, async () => {
    await using ground = await Ground.start({ mounts });
    const data = (text: string) => ({ token: Buffer.from(text).toString('base64') });
    await ground.client.create(Secret, {
      metadata: { namespace: 'default', name: 'credentials' },
      data: data('first'),
    });
    await ground.create('reader', {
      volumes: [{ name: 'credentials', secret: { secretName: 'credentials' } }],
      containers: [
        shell(`f=/etc/credentials/token; while :; do cat $f; echo; sleep 0.1; done`, {
          volumeMounts: [{ name: 'credentials', mountPath: '/etc/credentials', readOnly: true }],
        }),
      ],
    });
    await ground.isReady('reader');
    const unit = ground.runtime.pods.byName('default', 'reader')!.unit('main')!;
    const last = async () => (await tailOf(unit.logPath(), 20).catch(() => '')).trimEnd().split('\n').at(-1);
    await until('the first content', async () => (await last()) === 'first');
    await ground.client.patch(
      Secret,
      { namespace: 'default', name: 'credentials' },
      { type: 'merge', body: { data: data('second') } },
    );
    await until('the second content', async () => (await last()) === 'second');
  });
}

test('the node is registered with its label and its taint, and renews its Lease', async () => {
  await using ground = await Ground.start();
  const node = await ground.client.get(Node, { name: nodeName });
  assert.equal(node.metadata.labels?.['hangar.dev/runtime'], 'process');
  const taint = node.spec?.taints?.find(({ key }) => key === 'hangar.dev/runtime');
  assert.deepEqual(taint, { key: 'hangar.dev/runtime', value: 'process', effect: 'NoSchedule' });
  assert.equal(node.status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'True');
});

test('a restarted runtime adopts the processes of its predecessor', async () => {
  await using ground = await Ground.start();
  await ground.create('stays', { containers: [shell(`echo started; ${forever}`)] });
  const before = await ground.isReady('stays');
  const pidOf = () => readFileSync(`${ground.folder}/pods/${before.metadata.uid}/containers/main/0/report`, 'utf8');
  const report = pidOf();
  await ground.runtime.close({ pods: 'keep' });
  await ground.startRuntime();
  const worker = await until('the pod is adopted', () => ground.runtime.pods.byName('default', 'stays'));
  await until('the container runs', () => worker.unit('main')!.isRunning);
  assert.equal(pidOf(), report);
  const after = await ground.isReady('stays');
  assert.equal(after.status?.containerStatuses?.[0]?.restartCount, 0);
  assert.equal(after.status?.podIP, before.status?.podIP);
});

test('programs of a runtime that does not return are killed by their keepers', async () => {
  // A lease that a busy machine renews in time: otherwise the keeper kills the program earlier.
  await using ground = await Ground.start({ adoptionMs: 4_000 });
  await ground.create('lonely', { containers: [shell('while :; do sleep 1; done')] });
  const pod = await ground.isReady('lonely');
  const report = () => readFileSync(`${ground.folder}/pods/${pod.metadata.uid}/containers/main/0/report`, 'utf8');
  const pid = Number(/^pid (\d+)$/m.exec(report())![1]);
  await ground.runtime.close({ pods: 'keep' });
  await until('the program is killed', () => statOf(pid) === undefined);
  assert.match(report(), /^fenced$/m);
  await ground.startRuntime();
  const after = await until('the restart', async () => {
    const [container] = (await ground.pod('lonely'))?.status?.containerStatuses ?? [];
    return container && container.restartCount >= 1 && container.state?.running && container;
  });
  assert.match(after.lastState!.terminated!.message!, /did not renew the lease/);
});

test('a runtime adopts the programs of one that was killed', async () => {
  await using cluster = await startTestCluster({ listen: true });
  const folder = mkdtempSync(join(tmpdir(), 'hangar-adopted-'));
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'kubeconfig'), cluster.kubeconfig, { mode: 0o600 });
  const script = fileURLToPath(new URL('testing/run-runtime.ts', import.meta.url));
  const first = spawn(process.execPath, [script, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  cleanup.defer(() => void first.kill('SIGKILL'));
  await once(first.stdout, 'data');
  const containers = [shell(`echo one; ${forever}`)];
  const key = { namespace: 'default', name: 'stays' };
  await cluster.client.create(Pod, {
    metadata: key,
    spec: { nodeName, automountServiceAccountToken: false, containers },
  });
  const ready = () =>
    until('the pod is ready', async () => {
      const pod = await cluster.client.get(Pod, key);
      return pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') && pod;
    });
  const { metadata } = await ready();
  const report = () => readFileSync(join(folder, 'node/pods', metadata.uid!, 'containers/main/0/report'), 'utf8');
  const before = report();
  first.kill('SIGKILL');
  await once(first, 'exit');
  const runtime = await startProcessRuntime({
    client: cluster.client,
    nodeName,
    folder: join(folder, 'node'),
    images: [programsInPath],
    log: new Logger({ level: 'silent', format: 'text', clock: systemClock }),
  });
  cleanup.defer(() => runtime.close({ pods: 'stop' }));
  const unit = (await until('the pod', () => runtime.pods.byName('default', 'stays'))).unit('main')!;
  await until('the container is adopted', () => unit.isRunning);
  assert.equal(report(), before);
  assert.equal(unit.restartCount, 0);
});
