/** Control planes for tests of the rendering. */

import type { HostedControlPlane, HostedControlPlaneInlineSpec } from '../../api/index.ts';
import { apiVersion } from '../../api/index.ts';
import { planeOf } from '../index.ts';
import type { ClusterObject, Plane, Rendered } from '../index.ts';

export const hostedControlPlane = (spec: Partial<HostedControlPlane['spec']> = {}): HostedControlPlane => ({
  apiVersion,
  kind: 'HostedControlPlane',
  metadata: { namespace: 'team', name: 'demo', uid: '8f7f1f4e-2f1e-4a70-9d0a-0a8f7a2c9d11' },
  spec: { version: 'v1.36.4', replicas: 3, etcd: { replicas: 3 }, ...spec },
});

export const plane = (spec: Partial<HostedControlPlane['spec']> = {}, cluster?: ClusterObject): Plane =>
  planeOf(hostedControlPlane(spec), { name: 'demo', cluster, serviceType: 'ClusterIP' });

/** A plane with settings of the API server. */
export const withApiServer = (apiServer: NonNullable<HostedControlPlaneInlineSpec['deployment']>['apiServer']): Plane =>
  plane({ deployment: { apiServer: apiServer! } });

/** Returns the object of a kind and name. Throws if there is none. */
export function objectIn<T>(all: readonly Rendered[], kind: string, name: string): T {
  const found = all.find(({ object }) => object.kind === kind && object.metadata.name === name);
  if (!found)
    throw new Error(`no ${kind} ${name}: ${all.map(({ object }) => `${object.kind} ${object.metadata.name}`)}`);
  return found.object as T;
}
