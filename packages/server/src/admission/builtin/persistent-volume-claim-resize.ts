/** Allows resizing a claim only if it is bound and its StorageClass allows expansion. */

import type { ControlPlane } from '../../control-plane.ts';
import type { AdmissionPlugin } from '../admission.ts';
import { amountOf, compare, storageClassOf } from '@hangar/api/quota';
import type { Claim } from '@hangar/api/quota';
import { read } from './lookup.ts';
import { forbid } from '../refusal.ts';

const storageClasses = { group: 'storage.k8s.io', version: 'v1', resource: 'storageclasses' };

export const persistentVolumeClaimResize = (plane: ControlPlane): AdmissionPlugin => ({
  name: 'PersistentVolumeClaimResize',
  resources: new Set(['/persistentvolumeclaims']),
  async validate(request) {
    const { operation, subresource } = request;
    if (operation !== 'UPDATE' || subresource !== '') return;
    const [claim, old] = [request.object as Claim, request.old as Claim];
    if (compare(sizeOf(claim), sizeOf(old)) <= 0) return;
    if (old.status?.phase !== 'Bound') throw forbid(request, 'Only bound persistent volume claims can be expanded');
    if (await canGrow(plane, claim, old)) return;
    throw forbid(
      request,
      'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
    );
  },
});

const sizeOf = ({ spec }: Claim) => amountOf(spec?.resources?.requests?.['storage']);

async function canGrow(plane: ControlPlane, claim: Claim, old: Claim): Promise<boolean> {
  const name = storageClassOf(claim);
  if (!name || name !== storageClassOf(old)) return false;
  const storageClass = await read(plane, storageClasses, '', name);
  return storageClass?.['allowVolumeExpansion'] === true;
}
