/** Authentication of a tenant: client certificates, service account tokens, bootstrap tokens and external users of this tenant only. */

import type { Clock } from '@hangar/core';
import { BootstrapTokenAuthenticator } from '../../auth/bootstrap-tokens/bootstrap-tokens.ts';
import { ServiceAccountAuthenticator } from '../../auth/service-accounts/authenticate.ts';
import { signingKeyOf, verificationKeysOf } from '../../auth/service-accounts/keys.ts';
import { LegacyTokenAuthenticator } from '../../auth/service-accounts/legacy.ts';
import { ServiceAccounts } from '../../auth/service-accounts/service-accounts.ts';
import type { TokenAuthenticator } from '../../auth/tokens.ts';
import type { ControlPlane } from '../../control-plane.ts';
import type { ApiServerOptions } from '../../server.ts';
import { TenantCertificateAuthenticator } from './certificate-authenticator.ts';
import type { TenantKeys } from './keys.ts';

export interface TenantAuthenticationOptions extends Pick<ApiServerOptions, 'anonymous'> {
  readonly plane: ControlPlane;
  readonly keys: TenantKeys;
  /** `https://<host>/clusters/<path>/control-plane`. */
  readonly issuer: string;
  /** Former issuers of the tenant. Their tokens stay valid if signed with the tenant's own keys. */
  readonly formerIssuers?: readonly string[];
  /** Reports whether an issuer is a former one, for those that are not known by name. */
  readonly isFormerIssuer?: (issuer: unknown) => boolean;
  /** Absent: created here. */
  readonly certificates?: TenantCertificateAuthenticator;
  /** Audiences of the API; absent: the issuers. */
  readonly audiences?: readonly string[];
  /** Authenticates tokens of other issuers. */
  readonly external?: TokenAuthenticator;
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
  external,
  clock,
}: TenantAuthenticationOptions): Pick<ApiServerOptions, 'authenticators' | 'serviceAccounts' | 'anonymous'> {
  const serviceAccounts = new ServiceAccounts({
    issuers: [issuer, ...formerIssuers],
    ...(isFormerIssuer ? { isFormerIssuer } : {}),
    ...(audiences ? { audiences } : {}),
    // Lazy: most clients that cause a tenant to be opened have a certificate, and parsing keys is slow.
    get signingKey() {
      return signingKeyOf(keys.serviceAccountKey);
    },
    get verificationKeys() {
      return verificationKeysOf(keys.serviceAccountKey);
    },
    // The server's own address does not serve the keys of this tenant.
    jwksUri: `${issuer}/openid/v1/jwks`,
  });
  return {
    authenticators: [
      certificates ?? new TenantCertificateAuthenticator(keys.authority.certificate, clock),
      new LegacyTokenAuthenticator(plane, serviceAccounts),
      new ServiceAccountAuthenticator(plane, serviceAccounts),
      new BootstrapTokenAuthenticator(plane),
      ...(external ? [external] : []),
    ],
    serviceAccounts,
    ...(anonymous ? { anonymous } : {}),
  };
}
