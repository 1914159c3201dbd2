/** Authentication of test servers: tokens of an administrator, of service accounts, of bootstrappers; and certificates. */

import { generateKeyPairSync } from 'node:crypto';
import { CertificateAuthenticator, StaticTokenAuthenticator } from '../auth/authenticate.ts';
import type { StaticToken } from '../auth/authenticate.ts';
import { BootstrapTokenAuthenticator } from '../auth/bootstrap-tokens/bootstrap-tokens.ts';
import { ServiceAccountAuthenticator } from '../auth/service-accounts/authenticate.ts';
import { signingKeyOf, verificationKeysOf } from '../auth/service-accounts/keys.ts';
import { LegacyTokenAuthenticator } from '../auth/service-accounts/legacy.ts';
import { ServiceAccounts } from '../auth/service-accounts/service-accounts.ts';
import type { ServiceAccountOptions } from '../auth/service-accounts/service-accounts.ts';
import type { TokenAuthenticator } from '../auth/tokens.ts';
import type { ControlPlane } from '../control-plane.ts';
import type { ApiServerOptions } from '../server.ts';

export const administrator: StaticToken = {
  token: 'admin',
  user: 'admin',
  uid: 'admin',
  groups: ['system:masters'],
};

/** Returns a private key for tokens; PEM. */
export const newTokenKey = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey.export({ type: 'pkcs8', format: 'pem' });

export const testIssuer = 'https://kubernetes.default.svc';

export interface TestAuthentication {
  /** In addition to the administrator's. */
  readonly tokens?: readonly StaticToken[];
  readonly serviceAccounts?: Partial<ServiceAccountOptions>;
  /** In addition to the default ones. */
  readonly authenticators?: readonly TokenAuthenticator[];
}

export function testAuthentication(
  plane: ControlPlane,
  { tokens = [], serviceAccounts: asked = {}, authenticators = [] }: TestAuthentication,
): Pick<ApiServerOptions, 'authenticators' | 'serviceAccounts'> {
  const pem = newTokenKey();
  const serviceAccounts = new ServiceAccounts({
    issuers: [testIssuer],
    signingKey: signingKeyOf(pem),
    verificationKeys: verificationKeysOf(pem),
    ...asked,
  });
  return {
    authenticators: [
      new CertificateAuthenticator(plane.clock),
      new StaticTokenAuthenticator([administrator, ...tokens]),
      new LegacyTokenAuthenticator(plane, serviceAccounts),
      new ServiceAccountAuthenticator(plane, serviceAccounts),
      new BootstrapTokenAuthenticator(plane),
      ...authenticators,
    ],
    serviceAccounts,
  };
}
