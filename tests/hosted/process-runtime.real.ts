/**
 * HostedControlPlanes on a Hangar with the real kube-controller-manager and kube-scheduler, whose only node is the process runtime: the
 * real etcd, kube-apiserver, kube-controller-manager and kube-scheduler of a control plane run as pods.
 */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { connect, loadKubeconfig } from '@hangar/client';
import type { ApiObject, Client } from '@hangar/client';
import { Deployment, StatefulSet } from '@hangar/client/kinds/apps-v1';
import { Namespace, Pod, Secret } from '@hangar/client/kinds/core-v1';
import { StorageClass } from '@hangar/client/kinds/storage-v1';
import { Logger, systemClock } from '@hangar/core';
import { programsByName, startProcessRuntime, storageClassName } from '@hangar/process-runtime';
import type { ProcessRuntime } from '@hangar/process-runtime';
import { findCondition } from '@hangar/runtime';
import { installCrd } from '@hangar/testkit';
import { definitions } from '../../operators/hosted/src/api/generated/index.ts';
import { HostedControlPlane } from '../../operators/hosted/src/api/index.ts';
import { hostedOperator } from '../../operators/hosted/src/operator.ts';
import { tool } from '../../tools/tool.ts';
import { startCluster } from '../conformance/components/cluster.ts';
import type { Cluster } from '../conformance/components/cluster.ts';
import { until } from '../process-runtime/testing/until.ts';

const run = promisify(execFile);
const namespace = 'team';
const key = { namespace, name: 'demo' };
const programs = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;

describe('a HostedControlPlane as pods of the process runtime', () => {
  let cluster: Cluster;
  let client: Client;
  let runtime: ProcessRuntime;
  let running: Promise<unknown>;
  const ending = new AbortController();
  const lines: string[] = [];
  const log = new Logger({ level: 'info', format: 'text', clock: systemClock, write: (line) => lines.push(line) });

  before(async () => {
    const paths = await Promise.all(programs.map(async (name) => [name, await tool(name)] as const));
    cluster = await startCluster({ components: ['kube-controller-manager', 'kube-scheduler'] });
    client = connect(await loadKubeconfig(cluster.kubeconfig));
    runtime = await startProcessRuntime({
      client,
      nodeName: 'process-node',
      folder: join(cluster.folder, 'node'),
      images: [programsByName(Object.fromEntries(paths))],
      taints: [],
      log,
    });
    const isDefault = { 'storageclass.kubernetes.io/is-default-class': 'true' };
    const body = { metadata: { annotations: isDefault } };
    await client.patch(StorageClass, { name: storageClassName }, { type: 'merge', body });
    for (const definition of definitions) await installCrd(client, definition);
    await client.create(Namespace, { metadata: { name: namespace } });
    running = hostedOperator({ management: client, serviceType: 'NodePort', reach: 'endpoint', log }).run(
      ending.signal,
    );
  });
  after(async () => {
    ending.abort();
    await running;
    await removePods();
    await runtime?.close({ pods: 'stop' });
    await client?.close();
    await cluster?.stop();
  });

  /** Ends programs without their grace period: an API server without etcd uses all of it. */
  const removePods = async (): Promise<void> => {
    for (const kind of [Deployment, StatefulSet]) {
      await client.deleteCollection<ApiObject>(kind, { namespace, propagationPolicy: 'Background' });
    }
    await until('all pods are gone', async () => {
      await client.deleteCollection(Pod, { namespace, gracePeriodSeconds: 1 });
      return (await client.list(Pod, { namespace })).items.length === 0;
    });
  };
  const describeAll = async (): Promise<string> => {
    const { status } = await client.get(HostedControlPlane, key);
    const { items } = await client.list(Pod, { namespace });
    const pods = items.map(({ metadata, status: pod }) =>
      JSON.stringify([metadata.name, pod?.containerStatuses, pod?.conditions]),
    );
    return [JSON.stringify(status, undefined, 1), ...pods, ...lines.slice(-20)].join('\n');
  };
  const ready = (version: string): Promise<HostedControlPlane> =>
    until(
      `version ${version} is ready`,
      async () => {
        const object = await client.get(HostedControlPlane, key);
        const { conditions, version: now, observedGeneration } = object.status ?? {};
        const isReady = findCondition(conditions, 'Ready')?.status === 'True' && now === version;
        return isReady && observedGeneration === object.metadata.generation && object;
      },
      describeAll,
    );
  const kubectl = async (...args: readonly string[]): Promise<string> => {
    const secret = await client.get(Secret, { namespace, name: 'demo-kubeconfig' });
    const file = join(cluster.folder, 'demo.kubeconfig');
    await writeFile(file, Buffer.from(secret.data!['value']!, 'base64'), { mode: 0o600 });
    return (await run(await tool('kubectl'), [`--kubeconfig=${file}`, ...args])).stdout;
  };

  test('version v1.36.4 becomes Ready, and kubectl works', async () => {
    await client.create(HostedControlPlane, { metadata: { ...key }, spec: { version: 'v1.36.4', replicas: 2 } });
    const { status } = await ready('v1.36.4');
    assert.equal(status!.readyReplicas, 2);
    assert.match(await kubectl('version'), /Server Version: v1\.36\.4/);
    await kubectl('create', 'deployment', 'web', '--image=web');
    // The controller manager of the control plane creates the pod, and its scheduler looks at it.
    const reason = await until('the scheduler has looked at the pod', async () => {
      const text = await kubectl(
        'get',
        'pods',
        '--selector=app=web',
        '--output=jsonpath={.items[*].status.conditions[*].reason}',
      );
      return text !== '' && text;
    });
    assert.match(reason, /Unschedulable/);
    assert.match(await kubectl('get', '--raw=/readyz?verbose'), /etcd ok/);
  });

  test('it scales to one API server and back', async () => {
    for (const replicas of [1, 2]) {
      const body = { spec: { replicas } };
      await client.subresource('scale').patch(HostedControlPlane, key, { type: 'merge', body });
      const { status } = await until(
        `${replicas} API servers`,
        async () => {
          const object = await client.get(HostedControlPlane, key);
          return object.status?.readyReplicas === replicas && object.status.replicas === replicas && object;
        },
        describeAll,
      );
      assert.equal(findCondition(status!.conditions, 'Available')!.status, 'True');
      assert.match(await kubectl('get', 'namespaces'), /default/);
    }
  });
});
