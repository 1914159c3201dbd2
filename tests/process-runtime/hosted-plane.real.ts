/**
 * The process runtime on a Hangar with the real kube-controller-manager and kube-scheduler: a real etcd and a real kube-apiserver run as
 * pods of a StatefulSet and a Deployment.
 */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { configOfKubeconfig, connect, find, loadKubeconfig } from '@hangar/client';
import type { Client } from '@hangar/client';
import { Deployment } from '@hangar/client/kinds/apps-v1';
import { ConfigMap, Node, PersistentVolumeClaim, Pod, Service, ServiceAccount } from '@hangar/client/kinds/core-v1';
import { Logger, systemClock } from '@hangar/core';
import { kubeconfig } from '@hangar/pki';
import { programsByName, startProcessRuntime } from '@hangar/process-runtime';
import type { ProcessRuntime } from '@hangar/process-runtime';
import { tool } from '../../tools/tool.ts';
import { startCluster } from '../conformance/components/cluster.ts';
import type { Cluster } from '../conformance/components/cluster.ts';
import { until } from './testing/until.ts';
import { createHostedPlane, namespace } from './testing/hosted-plane.ts';
import type { HostedPlane } from './testing/hosted-plane.ts';

const nodeName = 'process-node';

describe('a control plane as pods of the process runtime', () => {
  let cluster: Cluster;
  let client: Client;
  let runtime: ProcessRuntime;
  let plane: HostedPlane;
  let hosted: Client;
  const lines: string[] = [];

  const startRuntime = async (): Promise<ProcessRuntime> =>
    startProcessRuntime({
      client,
      nodeName,
      folder: join(cluster.folder, 'node'),
      images: [programsByName({ etcd: await tool('etcd'), 'kube-apiserver': await tool('kube-apiserver') })],
      log: new Logger({ level: 'info', format: 'text', clock: systemClock, write: (line) => lines.push(line) }),
      backOff: { baseMs: 1_000, maxMs: 5_000 },
    });

  before(async () => {
    for (const name of ['etcd', 'kube-apiserver'] as const) await tool(name, { log: console.log });
    cluster = await startCluster({ components: ['kube-controller-manager', 'kube-scheduler'] });
    client = connect(await loadKubeconfig(cluster.kubeconfig));
    runtime = await startRuntime();
    plane = await createHostedPlane(client, 3);
  });
  after(async () => {
    await hosted?.close();
    await runtime?.close({ pods: 'stop' });
    await client?.close();
    await cluster?.stop();
  });

  const pods = async (app: string): Promise<Pod[]> =>
    (await client.list(Pod, { namespace, labelSelector: { app } })).items;
  const isReady = ({ status }: Pod): boolean =>
    status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true;
  const describeAll = async (): Promise<string> => {
    const { items } = await client.list(Pod, { namespace });
    const states = items.map(({ metadata, status, spec }) =>
      JSON.stringify({
        name: metadata.name,
        node: spec?.nodeName,
        status: status?.containerStatuses,
        conditions: status?.conditions,
      }),
    );
    return `${states.join('\n')}\n${lines.slice(-20).join('')}`;
  };
  const ready = (app: string, count: number): Promise<Pod[]> =>
    until(
      `${count} ready pods of ${app}`,
      async () => {
        const found = await pods(app);
        return found.length === count && found.every(isReady) && found;
      },
      describeAll,
    );
  const programPid = (pod: Pod, container: string): Promise<number> =>
    until('the pid of a program', async () => {
      const folder = join(cluster.folder, 'node/pods', pod.metadata.uid!, 'containers', container);
      const run = pod.status?.containerStatuses?.[0]?.restartCount ?? 0;
      const report = await readFile(join(folder, String(run), 'report'), 'utf8');
      return Number(/^pid (\d+)$/m.exec(report)?.[1]) || undefined;
    });

  test('the node is ready, and the scheduler places only pods on it that tolerate it', async () => {
    const node = await client.get(Node, { name: nodeName });
    assert.equal(node.status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'True');
    const account = { namespace: 'default', name: 'default' };
    await until('the service account', () => find(client, ServiceAccount, account));
    await client.create(Pod, {
      metadata: { namespace: 'default', name: 'ordinary' },
      spec: { containers: [{ name: 'main', image: 'example.com/main' }] },
    });
    const scheduled = await until('the scheduler has looked at the pod', async () => {
      const pod = await client.get(Pod, { namespace: 'default', name: 'ordinary' });
      return pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
    });
    assert.equal(scheduled.reason, 'Unschedulable');
  });

  test('etcd members find each other by the names of the StatefulSet, and their claims are bound', async () => {
    const members = await ready('etcd', 3);
    assert.equal(new Set(members.map(({ status }) => status?.podIP)).size, 3);
    for (const { metadata } of members) {
      const claim = await client.get(PersistentVolumeClaim, { namespace, name: `data-${metadata.name}` });
      assert.equal(claim.status?.phase, 'Bound');
    }
  });

  test('the API server serves at the address of its Service', async () => {
    await ready('kube-apiserver', 1);
    const address = await until('the address of the Service', async () => {
      const service = await find(client, Service, { namespace, name: 'kube-apiserver' });
      return service?.status?.loadBalancer?.ingress?.[0]?.ip;
    });
    assert.match(address, /^127\./);
    const credentials = kubeconfig({
      name: 'hosted',
      user: 'admin',
      server: `https://${address}`,
      authority: plane.authority.certificate,
      credentials: plane.administrator,
    });
    const config = await configOfKubeconfig(credentials);
    hosted = connect({ ...config, serverName: `kube-apiserver.${namespace}.svc` });
    await hosted.create(ConfigMap, { metadata: { namespace: 'default', name: 'kept' }, data: { a: '1' } });
  });

  test('a killed program is restarted, and its data is still there', async () => {
    const restartsOf = ({ status }: Pod): number => status?.containerStatuses?.[0]?.restartCount ?? 0;
    for (const [app, container] of [
      ['kube-apiserver', 'kube-apiserver'],
      ['etcd', 'etcd'],
    ] as const) {
      const [before] = await pods(app);
      process.kill(await programPid(before!, container), 'SIGKILL');
      const exitCode = await until(
        `a program of ${app} is restarted`,
        async () => {
          const after = (await pods(app)).find(({ metadata }) => metadata.uid === before!.metadata.uid);
          const isRestarted = after && restartsOf(after) === restartsOf(before!) + 1;
          return isRestarted && after.status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode;
        },
        describeAll,
      );
      assert.equal(exitCode, 137);
    }
    await ready('etcd', 3);
    await ready('kube-apiserver', 1);
    assert.equal((await hosted.get(ConfigMap, { namespace: 'default', name: 'kept' })).data?.['a'], '1');
  });

  test('a rolling update replaces the pod, and the old one serves until the new one is ready', async () => {
    const [before] = await pods('kube-apiserver');
    await client.patch(
      Deployment,
      { namespace, name: 'kube-apiserver' },
      { type: 'merge', body: { spec: { template: { metadata: { annotations: { revision: '2' } } } } } },
    );
    let failures = 0;
    await until(
      'the rolling update is complete',
      async () => {
        await hosted.get(ConfigMap, { namespace: 'default', name: 'kept' }).catch(() => (failures += 1));
        const found = await pods('kube-apiserver');
        return found.length === 1 && found[0]!.metadata.uid !== before!.metadata.uid && isReady(found[0]!);
      },
      describeAll,
    );
    assert.ok(failures <= 2, `${failures} requests failed`);
  });

  test('a restarted runtime adopts all programs', async () => {
    const before = [...(await pods('etcd')), ...(await pods('kube-apiserver'))];
    const pids = await Promise.all(before.map((pod) => programPid(pod, pod.spec!.containers[0]!.name)));
    await runtime.close({ pods: 'keep' });
    runtime = await startRuntime();
    await until(
      'all pods are ready',
      () => runtime.pods.all().length === before.length && runtime.pods.all().every((one) => one.isReady),
      describeAll,
    );
    const after = [...(await pods('etcd')), ...(await pods('kube-apiserver'))];
    assert.deepEqual(await Promise.all(after.map((pod) => programPid(pod, pod.spec!.containers[0]!.name))), pids);
    assert.equal((await hosted.get(ConfigMap, { namespace: 'default', name: 'kept' })).data?.['a'], '1');
  });

  test('a deleted member returns with its claim', async () => {
    const key = { namespace, name: 'etcd-2' };
    const { metadata } = await client.get(Pod, key);
    await client.delete(Pod, key);
    await until(
      'the new member is ready',
      async () => {
        const pod = await find(client, Pod, key);
        return pod && pod.metadata.uid !== metadata.uid && isReady(pod);
      },
      describeAll,
    );
  });
});
