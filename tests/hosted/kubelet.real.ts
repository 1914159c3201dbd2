/**
 * A HostedControlPlane whose components are pods of a real kubelet: containers with users, capabilities, volumes and networks that the
 * process runtime does not have. A client reads and writes every 100 ms through the published endpoint in all tests.
 */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { Pod, Secret } from '@hangar/client/kinds/core-v1';
import { findCondition, isConditionTrue } from '@hangar/runtime';
import { HostedControlPlane } from '../../operators/hosted/src/api/index.ts';
import type { Component } from '../../operators/hosted/src/render/index.ts';
import { tool } from '../../tools/tool.ts';
import { kubeadmJoin } from '../nodes/machine/kubeadm.ts';
import { Kubectl } from '../nodes/testing/kubectl.ts';
import { pod } from '../nodes/testing/objects.ts';
import { printLogsOfFailures } from '../nodes/testing/report.ts';
import { until } from '../process-runtime/testing/until.ts';
import { ManagementCluster, namespace } from './testing/management-cluster.ts';
import { SteadyClient } from './testing/steady-client.ts';

const version = 'v1.36.4';
const key = { namespace, name: 'demo' };

describe('a HostedControlPlane as pods of a kubelet', () => {
  const opened = new AsyncDisposableStack();
  let cluster: ManagementCluster;
  let kubectl: Kubectl;
  let steady: SteadyClient;
  const logs = async (): Promise<string> => (cluster ? `${await describeAll()}\n${await cluster.logs()}` : '');

  before(async () => {
    cluster = opened.use(await ManagementCluster.start({ version }));
  });
  after(() => opened.disposeAsync());
  printLogsOfFailures(logs);

  async function describeAll(): Promise<string> {
    const { items } = await cluster.client.list(HostedControlPlane, { namespace });
    const pods = (await podsOf()).map(({ metadata, status }) =>
      JSON.stringify([metadata.name, status?.phase, status?.containerStatuses, status?.conditions]),
    );
    return [JSON.stringify(items[0]?.status, undefined, 1), ...pods].join('\n');
  }
  async function podsOf(component?: Component): Promise<Pod[]> {
    const labelSelector = component && { 'app.kubernetes.io/component': component };
    return (await cluster.client.list(Pod, { namespace, labelSelector })).items;
  }
  const untilReady = (replicas: number): Promise<HostedControlPlane> =>
    until(`Ready with ${replicas} API servers`, async () => {
      const object = await cluster.client.get(HostedControlPlane, key);
      const { conditions, observedGeneration, readyReplicas, replicas: all } = object.status ?? {};
      const isCurrent =
        observedGeneration === object.metadata.generation && readyReplicas === replicas && all === replicas;
      return isCurrent && isConditionTrue(conditions, 'Ready') && object;
    });
  const restartsOf = ({ status }: Pod): number => status?.containerStatuses?.[0]?.restartCount ?? 0;
  const isReady = ({ status }: Pod): boolean => isConditionTrue(status?.conditions, 'Ready');

  test('version v1.36.4 with three replicas becomes Ready, and kubectl works', async () => {
    await cluster.client.create(HostedControlPlane, { metadata: { ...key }, spec: { version, replicas: 3 } });
    const { status } = await untilReady(3);
    assert.equal(findCondition(status!.conditions, 'Available')!.status, 'True');
    assert.equal(status!.version, version);
    for (const one of await podsOf()) {
      const [container] = one.status!.containerStatuses!;
      assert.match(container!.containerID!, /^containerd:\/\//);
      assert.equal(restartsOf(one), 0, `restarts of ${one.metadata.name}`);
    }
    const secret = await cluster.client.get(Secret, { namespace, name: 'demo-kubeconfig' });
    const kubeconfig = Buffer.from(secret.data!['value']!, 'base64').toString();
    const file = join(cluster.nodes.folder, 'demo.kubeconfig');
    await writeFile(file, kubeconfig, { mode: 0o600 });
    kubectl = await Kubectl.of(file);
    assert.match(await kubectl.run('version'), /Server Version: v1\.36\.4/);
    steady = opened.use(await SteadyClient.start(kubeconfig));
  });

  /** Kills the container of a pod, and waits until the kubelet has started it again. Returns the number of operations meanwhile. */
  async function killAndRecover(victim: Pod): Promise<number> {
    const name = victim.metadata.name!;
    const operations = await steady.during(async () => {
      await cluster.kill(victim);
      await until(`${name} is ready again`, async () => {
        const now = await cluster.client.get(Pod, { namespace, name });
        return restartsOf(now) > restartsOf(victim) && isReady(now);
      });
    });
    return operations.length;
  }

  test('each etcd member is killed, and the control plane stays available', async () => {
    const members = await podsOf('etcd');
    for (const member of members) await killAndRecover(member);
    // The kubelet waits ten seconds before the second restart: longer than an election.
    const again = await cluster.client.get(Pod, { namespace, name: members[0]!.metadata.name! });
    assert.ok((await killAndRecover(again)) > 0, 'operations while a member was down');
  });

  test('each API server is killed, and the control plane stays available', async () => {
    for (const server of await podsOf('kube-apiserver')) {
      assert.ok((await killAndRecover(server)) > 0, `operations while ${server.metadata.name} restarted`);
    }
  });

  /** Kills the leader of a component, and waits until another process leads. */
  async function killLeader(component: Component): Promise<void> {
    const holderOf = () => kubectl.value('{.spec.holderIdentity}', '--namespace=kube-system', `lease/${component}`);
    const holder = await holderOf();
    const leader = (await podsOf(component)).find(({ metadata }) => holder.startsWith(`${metadata.name}_`));
    await cluster.kill(leader!);
    await until(`another ${component} leads`, async () => !['', holder].includes(await holderOf()));
  }

  test('the leaders of the controllers are killed, and others take over', async () => {
    await steady.during(async () => {
      await Promise.all([killLeader('kube-controller-manager'), killLeader('kube-scheduler')]);
    });
  });

  test('a worker joins with kubeadm and runs a pod', async () => {
    const worker = await cluster.nodes.start('node-b', { images: ['pause', 'busybox'] });
    const create = [`--kubeconfig=${kubectl.kubeconfig}`, 'token', 'create', '--print-join-command'];
    const { stdout } = await promisify(execFile)(await tool('kubeadm', { log: console.log }), create);
    await kubeadmJoin(worker, stdout);
    await kubectl.wait('create', 'serviceaccount/default');
    await kubectl.apply(pod('hello', { command: ['sh', '-c', 'echo hello; exec sleep 3600'] }));
    await kubectl.wait('condition=Ready', 'pod/hello');
    assert.equal(await kubectl.value('{.spec.nodeName}', 'pod/hello'), 'node-b');
    assert.equal(await kubectl.run('logs', 'hello'), 'hello\n');
    assert.equal(await kubectl.run('exec', 'hello', '--', 'echo', 'inside'), 'inside\n');
  });

  test('it scales to one API server and back to three', async () => {
    for (const replicas of [1, 3]) {
      const body = { spec: { replicas } };
      await steady.during(async () => {
        await cluster.client.subresource('scale').patch(HostedControlPlane, key, { type: 'merge', body });
        await untilReady(replicas);
        await until('the other pods have ended', async () => (await podsOf('kube-apiserver')).length === replicas);
      });
    }
  });

  test('no acknowledged write is lost', async () => {
    console.log(await steady.finish());
  });
});
