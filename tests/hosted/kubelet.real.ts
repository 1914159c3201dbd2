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
import type { Node } from '@hangar/cli/machine';
import { Pod, Secret } from '@hangar/client/kinds/core-v1';
import { findCondition, isConditionTrue } from '@hangar/runtime';
import { HostedControlPlane } from '../../operators/hosted/src/api/index.ts';
import type { Component } from '../../operators/hosted/src/render/index.ts';
import { tool } from '../../tools/tool.ts';
import { addAliases } from '../conformance/nodes/images.ts';
import { kubeadmJoin } from '../nodes/machine/kubeadm.ts';
import { Kubectl } from '../nodes/testing/kubectl.ts';
import { pod } from '../nodes/testing/objects.ts';
import { printLogsOfFailures } from '../nodes/testing/report.ts';
import { until } from '../process-runtime/testing/until.ts';
import { addonImages } from './testing/component-images.ts';
import { componentStatus, ManagementCluster, namespace } from './testing/management-cluster.ts';
import { PodHistory } from './testing/pod-history.ts';
import { SteadyClient } from './testing/steady-client.ts';
import { upgradeWithClient } from './testing/upgrade.ts';
import { newerVersion, olderVersion } from './testing/versions.ts';

const key = { namespace, name: 'demo' };
/** Nodes share the limits of the machine for tracked connections, and a pod cannot change them. */
const kubeProxy = { args: { 'proxy-mode': 'nftables', 'conntrack-max-per-core': '0', 'conntrack-min': '0' } };

describe('a HostedControlPlane as pods of a kubelet', () => {
  const opened = new AsyncDisposableStack();
  let cluster: ManagementCluster;
  let kubectl: Kubectl;
  let steady: SteadyClient;
  let history: PodHistory;
  const logs = async (): Promise<string> => (cluster ? `${await describeAll()}\n${await cluster.logs()}` : '');

  before(async () => {
    cluster = opened.use(await ManagementCluster.start({ versions: [olderVersion, newerVersion] }));
    history = opened.use(await PodHistory.start(cluster.client, namespace));
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
  const restartsOf = (one: Pod): number => componentStatus(one)?.restartCount ?? 0;
  const isReady = ({ status }: Pod): boolean => isConditionTrue(status?.conditions, 'Ready');

  test('version v1.35.8 with three replicas becomes Ready, and kubectl works', async () => {
    await cluster.client.create(HostedControlPlane, {
      metadata: { ...key },
      spec: { version: olderVersion, replicas: 3, kubeProxy },
    });
    const { status } = await untilReady(3);
    assert.equal(findCondition(status!.conditions, 'Available')!.status, 'True');
    assert.equal(status!.version, olderVersion);
    for (const one of await podsOf()) {
      for (const { containerID } of one.status!.containerStatuses!) assert.match(containerID!, /^containerd:\/\//);
    }
    const secret = await cluster.client.get(Secret, { namespace, name: 'demo-kubeconfig' });
    const kubeconfig = Buffer.from(secret.data!['value']!, 'base64').toString();
    const file = join(cluster.nodes.folder, 'demo.kubeconfig');
    await writeFile(file, kubeconfig, { mode: 0o600 });
    kubectl = await Kubectl.of(file);
    assert.match(await kubectl.run('version'), /Server Version: v1\.35\.8/);
    steady = opened.use(await SteadyClient.start(kubeconfig));
  });

  test('it is upgraded to v1.36.4, and stays available', async () => {
    const retries = await upgradeWithClient({ client: cluster.client, key, steady, history });
    console.log(`retries during the upgrade: ${retries}`);
    assert.match(await kubectl.run('version'), /Server Version: v1\.36\.4/);
  });

  /** Returns a pod of the component when it is ready. */
  const readyPod = (component: Component, isWanted: (one: Pod) => boolean): Promise<Pod> =>
    until(`the ${component} is ready`, async () =>
      (await podsOf(component)).find((one) => isWanted(one) && isReady(one)),
    );

  /** Kills a container, and waits until the kubelet has started it again. Returns the number of operations meanwhile. */
  async function killAndRecover(component: Component, name: string): Promise<number> {
    const victim = await readyPod(component, ({ metadata }) => metadata.name === name);
    const operations = await steady.during(async () => {
      await cluster.kill(victim);
      const isRestarted = (one: Pod) => one.metadata.name === name && restartsOf(one) > restartsOf(victim);
      await readyPod(component, isRestarted);
    });
    return operations.length;
  }
  const namesOf = async (component: Component): Promise<string[]> =>
    (await podsOf(component)).map(({ metadata }) => metadata.name!);

  test('each etcd member is killed, and the control plane stays available', async () => {
    const members = await namesOf('etcd');
    for (const member of members) await killAndRecover('etcd', member);
    // The kubelet waits ten seconds before the second restart: longer than an election.
    assert.ok((await killAndRecover('etcd', members[0]!)) > 0, 'operations while a member was down');
  });

  test('each API server is killed, and the control plane stays available', async () => {
    for (const server of await namesOf('kube-apiserver')) {
      assert.ok((await killAndRecover('kube-apiserver', server)) > 0, `operations while ${server} restarted`);
    }
  });

  /** Kills the leader of a component, and waits until another process leads. */
  async function killLeader(component: Component): Promise<void> {
    const holderOf = () => kubectl.value('{.spec.holderIdentity}', '--namespace=kube-system', `lease/${component}`);
    const holder = await until(`a ${component} leads`, async () => (await holderOf()) || undefined);
    await cluster.kill(await readyPod(component, ({ metadata }) => holder.startsWith(`${metadata.name}_`)));
    await until(`another ${component} leads`, async () => !['', holder].includes(await holderOf()));
  }

  const addons = addonImages(newerVersion);
  let worker: Promise<Node>;

  test('the leaders of the controllers are killed, and others take over', async () => {
    // It starts while the leases of the leaders expire.
    worker = cluster.nodes.start('node-b', { images: ['pause', 'busybox', ...addons.images] });
    worker.catch(() => {});
    await steady.during(async () => {
      await Promise.all([killLeader('kube-controller-manager'), killLeader('kube-scheduler')]);
    });
  });

  test('a worker joins with kubeadm and runs pods', async () => {
    const node = await worker;
    await addAliases(node, addons.aliases);
    const create = [`--kubeconfig=${kubectl.kubeconfig}`, 'token', 'create', '--print-join-command'];
    const { stdout } = await promisify(execFile)(await tool('kubeadm', { log: console.log }), create);
    await kubeadmJoin(node, stdout);
    await kubectl.wait('create', 'serviceaccount/default');
    await kubectl.apply(pod('hello', { command: ['sh', '-c', 'echo hello; exec sleep 3600'] }));
    await kubectl.wait('condition=Ready', 'pod/hello');
    // CoreDNS is available when it reaches the API server through the Service `kubernetes`.
    await kubectl.wait('condition=Available', '--namespace=kube-system', 'deployment/coredns');
    // kube-proxy of the node learns of it a moment later.
    await until('DNS works in a pod', () =>
      kubectl.run('exec', 'hello', '--', 'nslookup', 'kubernetes.default.svc.cluster.local').catch(() => undefined),
    );
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
