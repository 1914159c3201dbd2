/** The Secret with a control plane's kubeconfigs: the same credentials, with the internal and the external address. */

import { kubeconfig } from '@hangar/pki';
import { kubeconfigSecretName } from '../api/index.ts';
import { digestOf } from '../control-plane/digest.ts';
import { annotationOf, isIntact, renewsAtMs, secretAnnotations } from '../control-plane/kept-secret.ts';
import type { SecretObject, WantedSecret } from '../control-plane/kept-secret.ts';
import type { Pass } from '../control-plane/world.ts';
import type { Issued } from './credentials.ts';
import { renewalMs } from './renewal.ts';

export const kubeconfigKeys = ['kubeconfig', 'kubeconfig-external'] as const;

/** Digest of the inputs of the kubeconfigs: user, addresses, and data. */
const inputsDigest = ({ plane, servingCa, addresses, auth }: Pass): string =>
  digestOf([
    plane!.uid,
    servingCa,
    addresses!.internal,
    addresses!.external,
    auth!.model,
    auth!.role,
    ...(plane!.tlsServerName === undefined ? [] : [plane!.tlsServerName]),
  ]);

/** Reports whether it must be renewed: an input changed, a user changed it, or its renewal time has come. */
export function isKubeconfigDue(pass: Pass, secret: SecretObject | undefined): boolean {
  return (
    !isIntact(secret, kubeconfigKeys, pass.controlPlane) ||
    annotationOf(secret, secretAnnotations.madeOf) !== inputsDigest(pass) ||
    renewsAtMs(secret) <= pass.world.clock.now()
  );
}

export function kubeconfigSecret(pass: Pass, { credentials, issuedAtMs, expiresAtMs }: Issued): WantedSecret {
  const { addresses, servingCa, controlPlane, plane, world } = pass;
  const { tlsServerName } = plane!;
  const to = (server: string): string =>
    kubeconfig({ name: 'controlplane', user: 'admin', server, tlsServerName, authority: servingCa!, credentials });
  return {
    name: kubeconfigSecretName(controlPlane.metadata.name!),
    holds: 'controlplane',
    madeOf: inputsDigest(pass),
    data: { kubeconfig: to(addresses!.internal), 'kubeconfig-external': to(addresses!.external) },
    expiresAtMs,
    renewsAtMs: renewalMs(issuedAtMs, expiresAtMs, world.random),
  };
}
