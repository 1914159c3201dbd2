/**
 * Phase CABundle: a ConfigMap with the certificates of the authorities and the public keys of service accounts, so that pods that only
 * verify do not mount private keys.
 */

import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { bundleName, rendered, rootCaFile } from '../../render/index.ts';
import { clusterNameLabel } from '../../api/index.ts';
import { signerNames } from '../../pki/signer.ts';
import { applyAll } from '../apply.ts';
import type { Pass, Verdict } from '../pass.ts';

/** Keys of the ConfigMap by the authority. */
export const bundleKeys = { ca: 'ca.crt', etcd: 'etcd-ca.crt', proxy: 'front-proxy-ca.crt', sa: 'sa.pub' } as const;

export async function caBundle(pass: Pass): Promise<Verdict | undefined> {
  const { plane, authorities } = pass;
  const { namespace, name, owner } = plane;
  const metadata = {
    namespace,
    name: bundleName(plane),
    labels: { [clusterNameLabel]: name },
    ownerReferences: [owner],
  };
  const data = Object.fromEntries(signerNames.map((of) => [bundleKeys[of], authorities![of].trusted]));
  const { tenantServingCa } = plane;
  // Pods connect to the port of the tenant, with a certificate of the CA, or to the address of the server.
  const rootCa = tenantServingCa === undefined ? {} : { [rootCaFile]: `${authorities!.ca.trusted}${tenantServingCa}` };
  return applyAll(pass, [rendered(ConfigMap, { metadata, data: { ...data, ...rootCa } })]);
}
