/** Cases: a node is drained, loses its kubelet, and gets new certificates. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterOf } from '../testing/cluster.ts';
import { nodesOf } from './workloads.ts';

export function lifecycleCases(cluster: ClusterOf): void {
  test('drain moves the pods to the other node', async () => {
    const { kubectl } = cluster();
    await kubectl.run('delete', 'pod', '--selector=app notin (web)', '--grace-period=1');
    await kubectl.run('drain', 'node-b', '--ignore-daemonsets', '--delete-emptydir-data', '--timeout=110s');
    await kubectl.run('rollout', 'status', 'deployment/web', '--timeout=110s');
    assert.deepEqual(await nodesOf(kubectl, 'web'), new Set(['node-a']));
    await kubectl.run('uncordon', 'node-b');
  });

  test('a node without its kubelet becomes NotReady, and its pods run elsewhere', async () => {
    const { kubectl, nodes } = cluster();
    // All are on node-a now: new ones come to both nodes.
    await kubectl.run('rollout', 'restart', 'deployment/web');
    await kubectl.run('rollout', 'status', 'deployment/web', '--timeout=110s');
    assert.ok((await nodesOf(kubectl, 'web')).has('node-b'));
    await nodes[1].killKubelet();
    await kubectl.wait('condition=Ready=Unknown', 'node/node-b');
    // The eviction of a pod takes effect when its kubelet confirms it; its replacement runs at once.
    await kubectl.wait('jsonpath={.status.availableReplicas}=4', 'deployment/web');
    const field = '{range .items[*]}{.spec.nodeName} {.status.conditions[?(@.type=="Ready")].status}{"\\n"}{end}';
    const pods = (await kubectl.value(field, 'pods', '--selector=app=web')).trim().split('\n');
    assert.deepEqual(new Set(pods.filter((line) => line.endsWith(' True'))), new Set(['node-a True']));
  });

  test('a kubelet that is started again takes up its node', async () => {
    const { kubectl, nodes, plane } = cluster();
    await nodes[1].startKubelet(plane.join);
    await kubectl.wait('condition=Ready', 'node/node-b');
    await kubectl.run('rollout', 'status', 'deployment/web', '--timeout=110s');
  });
}
