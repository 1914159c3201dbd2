/**
 * A HostedControlPlane as pods of the process runtime: the real etcd, kube-apiserver, kube-controller-manager and kube-scheduler run as
 * local processes. `availability.real.ts` has more replicas.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { configOfKubeconfig, connect, find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { Deployment } from '@hangar/client/kinds/apps-v1';
import { Pod, Secret } from '@hangar/client/kinds/core-v1';
import { clusterNameLabel, HostedControlPlane } from '../../operators/hosted/src/api/index.ts';
import { until } from '../process-runtime/testing/until.ts';
import { key, ProcessCluster } from './testing/process-cluster.ts';

describe('a HostedControlPlane as pods of the process runtime', () => {
  const opened = new AsyncDisposableStack();
  let cluster: ProcessCluster;
  /** Of the control plane. */
  let inside: Client;

  before(async () => {
    cluster = opened.use(await ProcessCluster.start());
  });
  after(() => opened.disposeAsync());

  test('version v1.36.4 becomes Ready, and no process restarts meanwhile', async () => {
    const fromMs = performance.now();
    await cluster.client.create(HostedControlPlane, {
      metadata: { ...key },
      spec: { version: 'v1.36.4', replicas: 1 },
    });
    const { status } = await cluster.ready();
    console.log(`Ready after ${((performance.now() - fromMs) / 1000).toFixed(1)} s`);
    assert.deepEqual([status!.version, status!.readyReplicas], ['v1.36.4', 1]);
    for (const { metadata, status: pod } of await cluster.pods()) {
      assert.equal(pod!.containerStatuses![0]!.restartCount, 0, metadata.name!);
    }
  });

  test('kubectl works with the kubeconfig of the Secret', async () => {
    assert.match(await cluster.kubectl('version'), /Server Version: v1\.36\.4/);
    assert.match(await cluster.kubectl('get', '--raw=/readyz?verbose'), /etcd ok/);
  });

  test('the controller manager creates the pod of a Deployment, and the scheduler finds no node for it', async () => {
    inside = opened.adopt(connect(await configOfKubeconfig(await cluster.secret('demo-kubeconfig', 'value'))), (one) =>
      one.close(),
    );
    const metadata = { namespace: 'default', name: 'web' };
    const labels = { app: 'web' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web' }] } };
    await inside.create(Deployment, { metadata, spec: { selector: { matchLabels: labels }, template } });
    const pod = await until('the scheduler has seen the pod', async () => {
      const { items } = await inside.list(Pod, { namespace: 'default' });
      return items.find(({ status }) => status?.conditions?.some(({ type }) => type === 'PodScheduled'));
    });
    assert.equal(pod.status!.conditions!.find(({ type }) => type === 'PodScheduled')!.reason, 'Unschedulable');
  });

  test('a deletion ends the components in their order, within their grace periods', async () => {
    const { client } = cluster;
    const { resourceVersion } = await client.list(Pod, { namespace: key.namespace });
    await client.delete(HostedControlPlane, key);
    /** Components whose pods begin or end to terminate, each change once. */
    const changes: string[] = [];
    for await (const event of client.watch(Pod, { namespace: key.namespace, resourceVersion })) {
      if (event.type === 'BOOKMARK') continue;
      const { metadata } = event.object;
      const component = metadata.labels!['app.kubernetes.io/component']!;
      if (event.type === 'DELETED') changes.push(`${component} gone`);
      else if (metadata.deletionTimestamp !== undefined) changes.push(`${component} terminating`);
      if (event.type === 'DELETED' && metadata.name === 'demo-etcd-0') break;
    }
    const order = changes.filter((one) => /apiserver|etcd terminating/.test(one));
    assert.deepEqual(
      [...new Set(order)],
      ['kube-apiserver terminating', 'kube-apiserver gone', 'etcd terminating'],
      changes.join(),
    );
    const controllersGone = changes.findLastIndex((one) => /^kube-(controller-manager|scheduler) gone/.test(one));
    assert.ok(controllersGone < changes.indexOf('kube-apiserver terminating'), changes.join());
    await until('the control plane is deleted', async () => !(await find(client, HostedControlPlane, key)));
    await until('its Secrets are deleted', async () => {
      const { items } = await client.list(Secret, { namespace: key.namespace, labelSelector: clusterNameLabel });
      return items.length === 0;
    });
  });
});
