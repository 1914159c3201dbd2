/** Simulates the operator as far as commands can see it: a tenant, a Secret, a status. */

import type { Client } from '@hangar/client';
import { defineKind } from '@hangar/client';
import type { ApiObject } from '@hangar/client';
import { ControlPlane, Secret, Tenant } from '../kinds.ts';
import type { Condition, ControlPlaneObject } from '../kinds.ts';

const Namespace = defineKind<ApiObject>({
  apiVersion: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  isNamespaced: false,
});

/** A fixed time, so that tables have the same text in every run. */
export const transition = '2026-01-01T00:00:00Z';

export const condition = (type: string, status: string, reason: string, message = ''): Condition => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: transition,
});

export const serverOf = (name: string): string => `https://127.0.0.1:6443/clusters/${name}/control-plane`;

export const kubeconfigText = (server: string, user = 'token: secret-of-admin'): string =>
  [
    'apiVersion: v1',
    'kind: Config',
    `clusters: [{name: controlplane, cluster: {server: '${server}', certificate-authority-data: Y2E=}}]`,
    `users: [{name: admin, user: {${user}}}]`,
    'contexts: [{name: controlplane, context: {cluster: controlplane, user: admin}}]',
    'current-context: controlplane',
    '',
  ].join('\n');

export async function setStatus(
  client: Client,
  name: string,
  status: NonNullable<ControlPlaneObject['status']>,
): Promise<void> {
  await client.status.patch(ControlPlane, { name }, { type: 'merge', body: { status } });
}

export interface ReadyOptions {
  /** Of the Secret. */
  readonly kubeconfig?: string;
}

/** Creates all objects of a ready control plane. */
export async function makeReady(client: Client, name: string, { kubeconfig }: ReadyOptions = {}): Promise<void> {
  const namespace = `kplane-cp-${name}`;
  await client.create(Tenant, { metadata: { name }, spec: {} });
  await client.create(Namespace, { metadata: { name: namespace } });
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  await client.create(Secret, {
    metadata: { namespace, name: `controlplane-${name}-kubeconfig` },
    data: {
      kubeconfig: base64(kubeconfig ?? kubeconfigText(serverOf(name))),
      'kubeconfig-external': base64(kubeconfigText(`https://${name}.example.com`)),
    },
  });
  await setStatus(client, name, {
    endpoint: serverOf(name),
    endpoints: [
      { type: 'Internal', url: serverOf(name) },
      { type: 'External', url: `https://${name}.example.com` },
    ],
    kubeconfigSecretRef: { namespace, name: `controlplane-${name}-kubeconfig` },
    phase: 'Ready',
    observedGeneration: 1,
    conditions: [condition('Accepted', 'True', 'Accepted'), condition('Ready', 'True', 'Reconciled')],
  });
}

/** Creates a control plane and makes it ready. */
export async function makePlane(
  client: Client,
  name: string,
  spec: NonNullable<ControlPlaneObject['spec']> = {},
): Promise<void> {
  await client.create(ControlPlane, { metadata: { name }, spec });
  await makeReady(client, name);
}

/** Makes every new control plane ready, until the signal. */
export async function operate(client: Client, signal: AbortSignal): Promise<void> {
  try {
    for await (const event of client.watch(ControlPlane, { signal, resourceVersion: '0' })) {
      if (event.type === 'ADDED') await makeReady(client, event.object.metadata.name!);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
