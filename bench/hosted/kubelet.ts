/**
 * `npm run bench -- hosted --on kubelet`: the time to Ready of the first control plane, as containers of a real kubelet with containerd, and
 * as local processes of the process runtime. Both management clusters are a Hangar with the real kube-controller-manager and
 * kube-scheduler. The images are on the node already.
 */

import { ManagementCluster, namespace } from '../../tests/hosted/testing/management-cluster.ts';
import { table } from '../table.ts';
import { createPlanes, version } from './create-planes.ts';
import { Platform } from './platform.ts';
import { seconds } from './units.ts';

const first = { names: ['first'], spec: { replicas: 1 }, condition: 'Ready' };

export async function compareWithKubelet(): Promise<void> {
  const processMs = await onProcessRuntime();
  const kubeletMs = await onKubelet();
  const row = ['the first, 1 API server and 3 etcd members, Ready', seconds(processMs), seconds(kubeletMs)];
  console.log(table(['HostedControlPlanes', 'process runtime', 'kubelet'], [row]));
}

async function onProcessRuntime(): Promise<number> {
  await using platform = await Platform.start();
  return await platform.create(first);
}

async function onKubelet(): Promise<number> {
  await using cluster = await ManagementCluster.start({ versions: [version] });
  return await createPlanes(cluster.client, namespace, first);
}
