/** Sets the default StorageClass, if one exists, on PersistentVolumeClaims that name no class. */

import type { ControlPlane } from '../../control-plane.ts';
import { Followed } from '../../objects/followed.ts';
import type { AdmissionPlugin } from '../admission.ts';
import { storageClassOf } from '@hangar/api/quota';
import type { Claim } from '@hangar/api/quota';
import { defaultable, defaultClassOf } from './default-class.ts';

const storageClasses = { group: 'storage.k8s.io', version: 'v1', resource: 'storageclasses' };
const annotations = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'];

export function defaultStorageClass(plane: ControlPlane): AdmissionPlugin {
  const followed = new Followed(plane, storageClasses, (object) => defaultable(object, annotations));
  return {
    name: 'DefaultStorageClass',
    resources: new Set(['/persistentvolumeclaims']),
    async mutate({ operation, subresource, object }) {
      if (operation !== 'CREATE' || subresource !== '') return;
      const claim = object as Claim;
      if (storageClassOf(claim) !== undefined) return;
      const name = defaultClassOf((followed.all ?? (await followed.ready())).values());
      if (name !== undefined) claim.spec = { ...claim.spec, storageClassName: name };
    },
    close: () => followed.close(),
  };
}
