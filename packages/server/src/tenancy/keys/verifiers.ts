/**
 * Verifiers of a tenant's credentials, created once per keys, so that the tenant does not repeat the verification that was done before it
 * was opened.
 */

import { lazy } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { KeySet, verificationKeysOf } from '../../auth/service-accounts/keys.ts';
import { TenantCertificateAuthenticator } from './certificate-authenticator.ts';
import { hasIssued } from './issued-certificates.ts';
import type { TenantKeys } from './keys.ts';

export interface TenantVerifiers {
  readonly clock: Clock;
  readonly certificates: TenantCertificateAuthenticator;
  readonly tokenKeys: () => KeySet;
}

/** Collected with the keys. */
const known = new WeakMap<TenantKeys, TenantVerifiers>();

export function verifiersOf(keys: TenantKeys, clock: Clock): TenantVerifiers {
  let verifiers = known.get(keys);
  if (verifiers?.clock !== clock) {
    verifiers = {
      clock,
      certificates: new TenantCertificateAuthenticator(keys.authority.certificate, clock, (digest) =>
        hasIssued(keys.authority, digest),
      ),
      tokenKeys: lazy(() => new KeySet(verificationKeysOf(keys.serviceAccountKey))),
    };
    known.set(keys, verifiers);
  }
  return verifiers;
}
