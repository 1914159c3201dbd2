/**
 * kube-public/cluster-info: where a node that knows nothing but a token learns where it joins. Every tenant is born with one that has
 * the host's own address; it is written only where nodes join elsewhere. What a signer added to it stays.
 */

import { ConfigMap } from '@hangar/client/kinds/core-v1';
import type { Client, WriteOptions } from '@hangar/client';
import type { Writes } from '../control-plane/writes.ts';

const key = { namespace: 'kube-public', name: 'cluster-info' };

/** A kubeconfig without users: whoever reads it brings one. */
export const clusterInfo = (server: string, ca: string): string =>
  [
    'apiVersion: v1',
    'kind: Config',
    'clusters:',
    '- name: ""',
    '  cluster:',
    `    server: ${server}`,
    ...(ca === '' ? [] : [`    certificate-authority-data: ${Buffer.from(ca).toString('base64')}`]),
    'contexts: null',
    'current-context: ""',
    'preferences: {}',
    'users: null',
    '',
  ].join('\n');

export async function writeClusterInfo(
  client: Client,
  kubeconfig: string,
  writes: Writes,
  options: WriteOptions,
): Promise<void> {
  const body = { data: { kubeconfig } };
  await writes.make('inside.cluster-info', () => client.patch(ConfigMap, key, { type: 'merge', body }, options));
}
