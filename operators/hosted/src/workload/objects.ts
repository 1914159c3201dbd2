/**
 * The objects inside a control plane: those that joining nodes and kubeadm expect, and the addons kube-proxy, CoreDNS and konnectivity
 * agents.
 */

import type { ApiObject, Kind } from '@hangar/client';
import { DaemonSet, Deployment } from '@hangar/client/kinds/apps-v1';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { ClusterRoleBinding } from '@hangar/client/kinds/rbac-v1';
import { clusterInfo, joinObjects } from '@hangar/node-objects';
import { rendered } from '../render/index.ts';
import type { Plane, Rendered } from '../render/index.ts';
import { addonsOf, konnectivityAddon } from './addons.ts';
import type { Servers } from './addons.ts';

const rbacGroup = 'rbac.authorization.k8s.io';
const admins = 'kubeadm:cluster-admins';

export interface WorkloadOptions extends Servers {
  /** PEM. */
  readonly authority: string;
}

/**
 * A replica has the join objects and the addons of its tenant, which another operator maintains on both sides of a migration: nodes join
 * and run as before.
 */
export function workloadObjects(plane: Plane, options: WorkloadOptions): Rendered[] {
  const isReplica = plane.tenantIssuer !== undefined;
  return [
    ...(isReplica ? [] : nodeObjects(plane, options)),
    rendered(ClusterRoleBinding, {
      metadata: { name: admins },
      roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'Group', apiGroup: rbacGroup, name: admins }],
    }),
    ...(isReplica ? konnectivityAddon(plane, options) : addonsOf(plane, options)),
  ];
}

const nodeObjects = (plane: Plane, { server, authority }: WorkloadOptions): Rendered[] => [
  ...joinObjects({
    clusterName: plane.name,
    server,
    version: plane.version.tag,
    network: plane.network,
    // Nothing approves requests for serving certificates.
    serverTlsBootstrap: false,
  }),
  rendered(ConfigMap, {
    metadata: { namespace: 'kube-public', name: 'cluster-info' },
    data: { kubeconfig: clusterInfo(server, authority) },
  }),
];

/** Kinds of objects that are deleted when the spec no longer contains them. The others have no effect without them. */
export const prunedKinds = [DaemonSet, Deployment] as unknown as readonly Kind<ApiObject>[];
