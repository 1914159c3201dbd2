/**
 * Identifies the user of a request that is passed on, and selects the credentials for the API server of the tenant:
 *
 *     client certificate of the tenant     the user, as front proxy
 *     platform administrator, member       the user, as front proxy; credentials of the platform never leave it
 *     service account token                the token: only that API server has the objects that the token depends on
 *     bootstrap token                      the token
 *     token of an external issuer          the token: that API server has the same issuers
 *     none, for a public document          none
 */

import { unauthorized } from '@hangar/api';
import type { Clock, Random } from '@hangar/core';
import { Guard } from '../../auth/guard.ts';
import { bearerToken } from '../../auth/bearer.ts';
import { bootstrapSecretOf } from '../../auth/bootstrap-tokens/bootstrap-tokens.ts';
import { parseJwt } from '../../auth/jwt/jwt.ts';
import { checkSignature } from '../../auth/service-accounts/authenticate.ts';
import { legacyIssuer } from '../../auth/service-accounts/legacy.ts';
import { accountNameOf, groupsOf } from '../../auth/service-accounts/names.ts';
import type { TokenAuthenticator, TokenIdentity } from '../../auth/tokens.ts';
import { anonymous } from '../../auth/user.ts';
import type { User } from '../../auth/user.ts';
import type { ServerRequest } from '../../http/message.ts';
import { splitTarget } from '../../request/query.ts';
import { isIssuerOf } from '../keys/issuers.ts';
import type { TenantKeys } from '../keys/keys.ts';
import { verifiersOf } from '../keys/verifiers.ts';
import type { TenantVerifiers } from '../keys/verifiers.ts';
import { isOfManagementPlane, platformCertificates, platformTokens } from '../platform-users.ts';
import type { PlatformUsers } from '../platform-users.ts';
import { anonymousAtTenant } from '../ports/anonymous.ts';

export interface PassedCredentials {
  /** For audit and fairness; with `token`, the subject that the token claims. */
  readonly user: User;
  /** Sent instead of the user. */
  readonly token?: string;
  /** Only the other API server can verify the token: a refusal must not reveal that the tenant exists. */
  readonly isUnverified?: boolean;
}

export interface RemoteCredentialsOptions {
  readonly path: string;
  readonly keys: TenantKeys;
  readonly platformUsers: PlatformUsers;
  /** Authenticates tokens of external issuers. */
  readonly external: TokenAuthenticator;
  readonly clock: Clock;
  readonly random: Random;
}

export class RemoteCredentials {
  readonly #verifiers: TenantVerifiers;
  readonly #guard: Guard;

  constructor({ path, keys, platformUsers, external, clock, random }: RemoteCredentialsOptions) {
    this.#verifiers = verifiersOf(keys, clock);
    const { certificates } = this.#verifiers;
    this.#guard = new Guard({
      authenticators: [certificates, platformCertificates(platformUsers), ownTokens(path, this.#verifiers), external],
      visitors: [platformTokens(platformUsers)],
      authorizers: [],
      clock,
      random,
    });
  }

  /** Rejects with 401. */
  async of(request: ServerRequest): Promise<PassedCredentials> {
    const token = bearerToken(request.header('authorization'));
    const user = await this.#guard.identify(request);
    if (user) {
      const isByToken =
        token !== undefined &&
        !isOfManagementPlane(user) &&
        user !== this.#verifiers.certificates.authenticate(request);
      return isByToken ? { user, token } : { user };
    }
    const bootstrap = token === undefined ? undefined : bootstrapSecretOf(token);
    if (bootstrap !== undefined) return { user: bootstrapUser(bootstrap), token: token!, isUnverified: true };
    const isPublic = anonymousAtTenant(splitTarget(request.target).path, request);
    if (isPublic && request.header('authorization') === undefined) return { user: anonymous };
    throw unauthorized();
  }
}

const bootstrapUser = (secret: string): User => ({
  name: `system:bootstrap:${secret.replace(/^bootstrap-token-/, '')}`,
  uid: '',
  groups: ['system:bootstrappers', 'system:authenticated'],
  extra: {},
});

/** Verifies the signature. Expiry, audience and the objects of the token are verified by the API server that gets it. */
const ownTokens = (path: string, verifiers: TenantVerifiers): TokenAuthenticator => ({
  authenticateToken(token): TokenIdentity | undefined {
    const jwt = parseJwt(token);
    const issuer = jwt?.claims['iss'];
    if (!jwt || !(issuer === legacyIssuer || isIssuerOf(path, issuer))) return undefined;
    checkSignature(jwt, verifiers.tokenKeys());
    const name = String(jwt.claims['sub'] ?? '');
    const account = accountNameOf(name);
    if (!account) throw unauthorized('service account token claims could not be validated');
    return { user: { name, uid: '', groups: groupsOf(account.namespace), extra: {} } };
  },
});
