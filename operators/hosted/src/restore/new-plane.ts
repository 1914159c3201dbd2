/** The HostedControlPlane that a restore creates from the head of a backup. */

import { isIP } from 'node:net';
import { annotations, pausedAnnotation } from '../api/index.ts';
import type { HostedControlPlaneSpec } from '../api/index.ts';
import type { PayloadHead } from '../backup/payload.ts';
import type { RestoreState } from './state.ts';

export interface NewPlaneOptions {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** A drill makes no backups, and belongs to no Cluster. */
  readonly isDrill: boolean;
  readonly state: RestoreState;
}

/** It is paused until its Secrets exist, so that the operator does not create other authorities. */
export function newPlane(head: PayloadHead, { namespace, name, labels, isDrill, state }: NewPlaneOptions) {
  const isSame = head.controlPlane.namespace === namespace && head.controlPlane.name === name;
  return {
    metadata: {
      namespace,
      name,
      labels: { ...labels },
      annotations: {
        ...head.annotations,
        ...(isDrill ? { [annotations.standalone]: 'true' } : {}),
        [pausedAnnotation]: '',
        [annotations.restore]: JSON.stringify(state),
      },
    },
    spec: newSpec(head.spec, { isSame, isDrill }),
  };
}

/** Addresses belong to one control plane. Only a host name of the same control plane can lead to its new Service. */
function newSpec(
  { controlPlaneEndpoint, frontDoor, etcd, ...spec }: HostedControlPlaneSpec,
  { isSame, isDrill }: { readonly isSame: boolean; readonly isDrill: boolean },
): HostedControlPlaneSpec {
  const keepsEndpoint = isSame && controlPlaneEndpoint !== undefined && isIP(controlPlaneEndpoint.host) === 0;
  const { backup, ...etcdWithoutBackup } = etcd ?? {};
  return {
    ...spec,
    ...(keepsEndpoint ? { controlPlaneEndpoint } : {}),
    ...(frontDoor === undefined ? {} : { frontDoor: isSame ? frontDoor : {} }),
    etcd: isDrill || backup === undefined ? etcdWithoutBackup : { ...etcdWithoutBackup, backup },
  };
}
