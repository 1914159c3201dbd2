/** Front-proxy client certificate, by which aggregated API servers authenticate the tenant's server and accept the user that it names. */

import type { Clock, Random } from '@hangar/core';
import type { KeyPair } from '@hangar/pki';
import type { TenantKeys } from './keys.ts';
import { pki } from './pki.ts';

/** Common name of the certificate; published in the tenant as the allowed name. */
export const frontProxyName = 'front-proxy-client';

export interface FrontProxyCertificateOptions {
  readonly keys: Pick<TenantKeys, 'frontProxyAuthority'>;
  readonly clock: Clock;
  readonly random: Random;
}

const days = 30;
const renewBeforeMs = 10 * 86_400_000;

/** The certificate is issued at first use and reissued before it expires: most tenants have no aggregated API servers. */
export function frontProxyCertificate({ keys, ...world }: FrontProxyCertificateOptions): () => KeyPair {
  let pair: KeyPair | undefined;
  let renewAt = 0;
  return () => {
    if (pair && world.clock.now() < renewAt) return pair;
    const { expiresAt, issueCertificate } = pki();
    pair = issueCertificate(keys.frontProxyAuthority, { commonName: frontProxyName, usage: 'client', days }, world);
    renewAt = expiresAt(pair.certificate) - renewBeforeMs;
    return pair;
  };
}
