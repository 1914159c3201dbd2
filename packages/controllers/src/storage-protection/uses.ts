/** Determines the users of a claim, volume or class that is being deleted, by the rules of kube-controller-manager. */

import type { ApiObject, Client, Kind } from '@hangar/client';
import { PersistentVolume, PersistentVolumeClaim, Pod } from '@hangar/client/kinds/core-v1';
import { VolumeAttributesClass } from '@hangar/client/kinds/storage-v1';

const pageSize = 500;

type IsUsed<T> = (object: T, client: Client, signal: AbortSignal) => Promise<boolean>;

export interface Protected {
  readonly kind: Kind<ApiObject>;
  readonly finalizer: string;
  readonly isUsed: IsUsed<ApiObject>;
}

const protect = <T extends ApiObject>(kind: Kind<T>, finalizer: string, isUsed: IsUsed<T>): Protected => ({
  kind: kind as unknown as Kind<ApiObject>,
  finalizer,
  isUsed: isUsed as IsUsed<ApiObject>,
});

/** By resource. */
export const protectedResources: ReadonlyMap<string, Protected> = new Map(
  [
    protect(PersistentVolumeClaim, 'kubernetes.io/pvc-protection', isClaimUsed),
    protect(PersistentVolume, 'kubernetes.io/pv-protection', ({ status }) =>
      Promise.resolve(status?.phase === 'Bound'),
    ),
    protect(VolumeAttributesClass, 'kubernetes.io/vac-protection', isClassUsed),
  ].map((one) => [one.kind.plural, one]),
);

async function isClaimUsed(claim: PersistentVolumeClaim, client: Client, signal: AbortSignal): Promise<boolean> {
  const { namespace } = claim.metadata;
  for await (const pod of client.listAll(Pod, { namespace, limit: pageSize, signal })) {
    if (isUsedBy(claim, pod)) return true;
  }
  return false;
}

/** An unscheduled pod cannot start with a claim that is being deleted. */
export function isUsedBy({ metadata }: PersistentVolumeClaim, pod: Pod): boolean {
  if (!pod.spec?.nodeName) return false;
  return (pod.spec.volumes ?? []).some(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim?.claimName === metadata.name) return true;
    if (!ephemeral || `${pod.metadata.name}-${name}` !== metadata.name || isShutDown(pod)) return false;
    return metadata.ownerReferences?.some(({ uid, controller }) => controller && uid === pod.metadata.uid) ?? false;
  });
}

/** Only finalizers keep the pod: perhaps one that waits for the claim. */
const isShutDown = ({ metadata }: Pod): boolean =>
  metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0;

async function isClassUsed({ metadata }: VolumeAttributesClass, client: Client, signal: AbortSignal): Promise<boolean> {
  const { name } = metadata;
  for await (const { spec } of client.listAll(PersistentVolume, { limit: pageSize, signal })) {
    if (spec?.volumeAttributesClassName === name) return true;
  }
  for await (const { spec, status } of client.listAll(PersistentVolumeClaim, { limit: pageSize, signal })) {
    if (spec?.volumeAttributesClassName === name || status?.currentVolumeAttributesClassName === name) return true;
    if (status?.modifyVolumeStatus?.targetVolumeAttributesClassName === name) return true;
  }
  return false;
}
