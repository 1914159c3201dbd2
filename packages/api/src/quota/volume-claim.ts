/** The parts of volume claims that describe their needs. */

import type { KubeObject } from '../object.ts';
import type { ResourceList, Resources } from './pod.ts';

export interface Claim extends KubeObject {
  spec?: {
    storageClassName?: string | null;
    volumeName?: string;
    volumeAttributesClassName?: string | null;
    resources?: Resources | null;
  };
  status?: {
    phase?: string;
    allocatedResources?: ResourceList;
    currentVolumeAttributesClassName?: string | null;
    modifyVolumeStatus?: { targetVolumeAttributesClassName?: string } | null;
  };
}

/** Older than the field, and still obeyed. */
const classAnnotation = 'volume.beta.kubernetes.io/storage-class';

/** Undefined if it names none; empty if it requests none. */
export function storageClassOf({ metadata, spec }: Claim): string | undefined {
  return metadata.annotations?.[classAnnotation] ?? spec?.storageClassName ?? undefined;
}
