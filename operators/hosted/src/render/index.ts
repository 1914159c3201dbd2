/**
 * Rendering: from a control plane to the objects of its components, without I/O.
 *
 * A rendering has a version. A HostedControlPlane keeps the version that it was created with, in an annotation, so that a new release of
 * the operator does not roll out the pods of existing control planes. The output of a released version never changes: a test compares
 * digests. A change of `spec.version` adopts the newest rendering, and a change of the annotation any known one.
 */

import type { Plane } from './plane.ts';
import type { Component } from './names.ts';
import type { Rendered, Rendering } from './contract.ts';
import { rendering as v1 } from './v1/index.ts';

export * from './contract.ts';
export * from './names.ts';
export * from './plane.ts';
export * from './version.ts';
export * from './volume-size.ts';
export { konnectivity } from './v1/defaults.ts';
export { etcdVolumeSizeOf, quotaArgument, quotaOf, wantedEtcdTag } from './v1/etcd.ts';
export { etcdLogBytes } from './v1/quota.ts';
export { apiPortName } from './v1/api-server.ts';
export { konnectivityHost, konnectivityServicePort, konnectivityUser } from './v1/konnectivity.ts';
export { componentLabel, imageOf } from './v1/workload.ts';

/** By their version, oldest first. */
export type Renderings = ReadonlyMap<string, Rendering>;

export const renderings: Renderings = new Map([['1', v1]]);

export const newestOf = (known: Renderings): string => [...known.keys()].at(-1)!;

export const newestRendering = newestOf(renderings);

/** Returns all objects of a plane, in the order in which they are applied. For previews and tests. */
export function renderAll(
  rendering: Rendering,
  plane: Plane,
  files: Readonly<Partial<Record<Component, string>>>,
): Rendered[] {
  return [
    ...rendering.apiService(plane),
    ...rendering.etcd(plane, files.etcd ?? ''),
    ...rendering.componentKubeconfigs(plane),
    ...rendering.authentication(plane),
    ...rendering.apiServer(plane, files['kube-apiserver'] ?? ''),
    ...rendering.controllerManager(plane, files['kube-controller-manager'] ?? ''),
    ...rendering.scheduler(plane, files['kube-scheduler'] ?? ''),
  ];
}
