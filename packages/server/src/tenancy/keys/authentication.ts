/** Who may prove what in a tenant: its own certificates, tokens of its own service accounts, its own bootstrap tokens. */

import type { Clock } from '@hangar/core';
import { BootstrapTokenAuthenticator } from '../../auth/bootstrap-tokens/bootstrap-tokens.ts';
import { ServiceAccountAuthenticator } from '../../auth/service-accounts/authenticate.ts';
import { signingKeyOf, verificationKeysOf } from '../../auth/service-accounts/keys.ts';
import { LegacyTokenAuthenticator } from '../../auth/service-accounts/legacy.ts';
import { ServiceAccounts } from '../../auth/service-accounts/service-accounts.ts';
import type { ControlPlane } from '../../control-plane.ts';
import type { ApiServerOptions } from '../../server.ts';
import { TenantCertificateAuthenticator } from './certificate-authenticator.ts';
import type { TenantKeys } from './keys.ts';

export interface TenantAuthenticationOptions extends Pick<ApiServerOptions, 'anonymous'> {
  readonly plane: ControlPlane;
  readonly keys: TenantKeys;
  /** `https://<host>/clusters/<path>/control-plane`. */
  readonly issuer: string;
  /** Those that were the tenant's issuer before, and whose tokens still count: with the tenant's own keys only. */
  readonly formerIssuers?: readonly string[];
  /** The same, where they are not known by name. */
  readonly isFormerIssuer?: (issuer: unknown) => boolean;
  /** Absent: made here. */
  readonly certificates?: TenantCertificateAuthenticator;
  /** Of the API; absent: the issuers. */
  readonly audiences?: readonly string[];
  readonly clock: Clock;
}

export function tenantAuthentication({
  plane,
  keys,
  issuer,
  formerIssuers = [],
  isFormerIssuer,
  certificates,
  audiences,
  anonymous,
  clock,
}: TenantAuthenticationOptions): Pick<ApiServerOptions, 'authenticators' | 'serviceAccounts' | 'anonymous'> {
  const serviceAccounts = new ServiceAccounts({
    issuers: [issuer, ...formerIssuers],
    ...(isFormerIssuer ? { isFormerIssuer } : {}),
    ...(audiences ? { audiences } : {}),
    // Read when they are needed: most who open a tenant have a certificate, and keys are slow to read.
    get signingKey() {
      return signingKeyOf(keys.serviceAccountKey);
    },
    get verificationKeys() {
      return verificationKeysOf(keys.serviceAccountKey);
    },
    // The server's own address has other keys, or those of nobody.
    jwksUri: `${issuer}/openid/v1/jwks`,
  });
  return {
    authenticators: [
      certificates ?? new TenantCertificateAuthenticator(keys.authority.certificate, clock),
      new LegacyTokenAuthenticator(plane, serviceAccounts),
      new ServiceAccountAuthenticator(plane, serviceAccounts),
      new BootstrapTokenAuthenticator(plane),
    ],
    serviceAccounts,
    ...(anonymous ? { anonymous } : {}),
  };
}
