/** By which the API servers behind a tenant know that it is the tenant's server who asks, and whom it asks for. */

import type { Clock, Random } from '@hangar/core';
import type { KeyPair } from '@hangar/pki';
import type { TenantKeys } from './keys.ts';
import { pki } from './pki.ts';

/** Of its certificate; published in the tenant as the allowed name. */
export const frontProxyName = 'front-proxy-client';

export interface FrontProxyCertificateOptions {
  readonly keys: Pick<TenantKeys, 'frontProxyAuthority'>;
  readonly clock: Clock;
  readonly random: Random;
}

const days = 30;
const renewBeforeMs = 10 * 86_400_000;

/** Issued when it is first asked for, and anew before it expires: most tenants have no such servers. */
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
