/** The four manifests of the design document. None of their host names resolves: nothing may depend on reaching them. */

import type { ApiObject, Client, Draft, Kind } from '@hangar/client';
import { ControlPlane, ControlPlaneClass, ControlPlaneEndpoint, ControlPlaneRegistration } from '../api/index.ts';

export interface Example {
  readonly kind: Kind<ApiObject>;
  readonly name: string;
  create(client: Client): Promise<unknown>;
  delete(client: Client): Promise<unknown>;
}

const example = <T extends ApiObject>(kind: Kind<T>, name: string, spec: object): Example => ({
  kind: kind as unknown as Kind<ApiObject>,
  name,
  create: (client) => client.create(kind, { metadata: { name }, spec } as unknown as Draft<T>),
  delete: (client) => client.delete(kind, { name }),
});

export const examples: readonly Example[] = [
  example(ControlPlane, 'example', {
    classRef: { name: 'default' },
    mode: 'Virtual',
    endpointRef: { name: 'example-endpoint' },
    virtual: { clusterPath: 'example' },
  }),
  example(ControlPlaneEndpoint, 'example-endpoint', {
    endpoint: 'https://shared.kplane.example/clusters/example/control-plane',
    externalEndpoint: 'https://example.kplane.example',
    joinEndpoint: 'https://example.join.kplane.example/clusters/example/control-plane',
  }),
  example(ControlPlaneClass, 'default', {
    deletionPolicy: 'Retain',
    auth: { model: 'v0', defaultRole: 'cluster-admin' },
    addons: ['starter'],
  }),
  example(ControlPlaneRegistration, 'example', {
    controlPlaneRef: { name: 'example' },
    services: ['controllers', 'scheduler'],
    mode: 'Shared',
    kubeconfigSecretRef: { name: 'controlplane-example-kubeconfig', namespace: 'kplane-cp-example' },
  }),
];

/** Every order of them. */
export function* orders<T>(items: readonly T[]): Generator<readonly T[]> {
  if (items.length <= 1) return yield items;
  for (const [at, first] of items.entries()) {
    for (const rest of orders(items.toSpliced(at, 1))) yield [first, ...rest];
  }
}
