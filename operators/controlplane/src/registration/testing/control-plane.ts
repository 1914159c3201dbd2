/** A ControlPlane as its controller leaves it, with the fields that registrations read. The test decides the order. */

import type { Client } from '@hangar/client';
import { Namespace, Secret } from '@hangar/client/kinds/core-v1';
import { hasCode } from '@hangar/core';
import { testAuthority } from '@hangar/testkit';
import { ControlPlane, labels } from '../../api/index.ts';
import { ownSecretOf } from '../resolution.ts';

const authority = Buffer.from(testAuthority().certificate).toString('base64');

export const kubeconfigText = (server: string, user = 'admin'): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'controlplane', cluster: { server, 'certificate-authority-data': authority } }],
    contexts: [{ name: 'controlplane', context: { cluster: 'controlplane', user } }],
    users: [{ name: user, user: { token: `token-of-${user}` } }],
    'current-context': 'controlplane',
  });

export const addressOfPath = (host: string, path: string): string => `https://${host}/clusters/${path}/control-plane`;

/** In its management namespace, with the label that the operator's own have. */
export async function putOwnSecret(client: Client, controlPlane: string, server: string): Promise<void> {
  await putSecret(client, ownSecretOf(controlPlane), server, { [labels.kubeconfig]: 'controlplane' });
}

export async function putSecret(
  client: Client,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  server: string,
  secretLabels: Record<string, string> = {},
): Promise<void> {
  await client.create(Namespace, { metadata: { name: namespace } }).catch(unlessThere);
  const data = { kubeconfig: Buffer.from(kubeconfigText(server)).toString('base64') };
  const metadata = { namespace, name, labels: secretLabels };
  await client.apply(Secret, { metadata, data }, { fieldManager: 'test', force: true });
}

export interface Published {
  readonly endpoint?: string | null;
  readonly isReady?: boolean;
  readonly hasSecret?: boolean;
}

export async function publish(client: Client, name: string, published: Published): Promise<void> {
  const { endpoint = null, isReady = true, hasSecret = true } = published;
  const conditions = [
    {
      type: 'Ready',
      status: isReady ? 'True' : 'False',
      reason: isReady ? 'Reconciled' : 'Bootstrapping',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
  ];
  const endpoints = endpoint === null ? null : [{ type: 'Internal', url: endpoint }];
  const kubeconfigSecretRef = hasSecret ? ownSecretOf(name) : null;
  const body = { status: { endpoint, endpoints, conditions, kubeconfigSecretRef } };
  await client.status.patch(ControlPlane, { name }, { type: 'merge', body });
}

/** Everything at once. */
export async function readyControlPlane(client: Client, name: string, host = 'hangar.example'): Promise<string> {
  const address = addressOfPath(host, name);
  await client.create(ControlPlane, { metadata: { name }, spec: {} }).catch(unlessThere);
  await putOwnSecret(client, name, address);
  await publish(client, name, { endpoint: address });
  return address;
}

function unlessThere(error: unknown): void {
  if (!hasCode(error, 'AlreadyExists')) throw error;
}
