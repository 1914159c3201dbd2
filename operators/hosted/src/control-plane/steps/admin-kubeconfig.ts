/** Phase AdminKubeconfig: the Secret that Cluster API and users read. */

import { Secret } from '@hangar/client/kinds/core-v1';
import { isControlledBy } from '@hangar/runtime';
import { clusterSecretType } from '../../api/index.ts';
import {
  adminKubeconfig,
  certificateIn,
  isKubeconfigCurrent,
  kubeconfigDigest,
  kubeconfigRenewsAtMs,
} from '../../pki/admin-kubeconfig.ts';
import { externalAddress } from '../../front-door/settings.ts';
import { adminKubeconfigName } from '../../render/index.ts';
import { conflictFault, findObject } from '../apply.ts';
import { noteExpiration } from '../figures.ts';
import type { Pass, Verdict } from '../pass.ts';
import { putSecret } from './certificates.ts';

export async function adminKubeconfigSecret(pass: Pass): Promise<Verdict | undefined> {
  const { plane, world, authorities, hostedControlPlane } = pass;
  const request = { name: plane.name, ...externalAddress(plane, world.frontDoor?.settings) };
  const digest = kubeconfigDigest(request, authorities!.ca);
  const name = adminKubeconfigName(plane);
  const existing = await findObject(pass, Secret, { namespace: plane.namespace, name });
  if (existing && !isControlledBy(existing, hostedControlPlane)) return conflictFault(existing);
  const isUsable = existing?.type === clusterSecretType && isKubeconfigCurrent(existing, digest, world.clock.now());
  const secret = isUsable
    ? existing
    : await putSecret(pass, existing, {
        name,
        type: clusterSecretType,
        digest,
        data: await adminKubeconfig(request, authorities!.ca, world),
      });
  pass.wakeUps.push(kubeconfigRenewsAtMs(secret));
  noteExpiration(pass, 'kubeconfig', certificateIn(secret));
  return undefined;
}
