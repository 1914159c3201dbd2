/**
 * kube-public/cluster-info: gives a node that has only a token the address to join. Every new tenant has one with the host's own address;
 * it is written only where nodes join elsewhere. Signatures in it stay.
 */

import { ConfigMap } from '@hangar/client/kinds/core-v1';
import type { Client, WriteOptions } from '@hangar/client';
import type { Writes } from '../control-plane/writes.ts';

const key = { namespace: 'kube-public', name: 'cluster-info' };

export async function writeClusterInfo(
  client: Client,
  kubeconfig: string,
  writes: Writes,
  options: WriteOptions,
): Promise<void> {
  const body = { data: { kubeconfig } };
  await writes.make('inside.cluster-info', () => client.patch(ConfigMap, key, { type: 'merge', body }, options));
}
