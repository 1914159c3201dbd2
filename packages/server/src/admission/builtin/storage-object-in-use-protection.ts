/** Adds finalizers to volumes and claims, which controllers remove when they are no longer in use. */

import type { AdmissionPlugin } from '../admission.ts';

const finalizers: ReadonlyMap<string, string> = new Map([
  ['persistentvolumes', 'kubernetes.io/pv-protection'],
  ['persistentvolumeclaims', 'kubernetes.io/pvc-protection'],
  ['volumeattributesclasses', 'kubernetes.io/vac-protection'],
]);

export const storageObjectInUseProtection: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  resources: new Set(['/persistentvolumes', '/persistentvolumeclaims', 'storage.k8s.io/volumeattributesclasses']),
  mutate({ operation, subresource, object, resource }) {
    if (operation !== 'CREATE' || subresource !== '') return;
    const finalizer = finalizers.get(resource.name)!;
    const { metadata } = object!;
    if (!metadata.finalizers?.includes(finalizer)) metadata.finalizers = [...(metadata.finalizers ?? []), finalizer];
  },
};
