/** Authenticates tokens of OpenID Connect issuers. Only the rules of the issuer that a token names apply to it. */

import { unauthorized } from '@hangar/api';
import type { Clock } from '@hangar/core';
import { isSignedBy, parseJwt, textsOf, timeOf } from '../jwt/jwt.ts';
import type { Jwt } from '../jwt/jwt.ts';
import type { TokenAuthenticator, TokenIdentity } from '../tokens.ts';
import type { IssuerConfiguration } from './configuration.ts';
import { IssuerKeys } from './issuer-keys.ts';
import type { Fetch } from './issuer-keys.ts';
import { userOfClaims } from './user-of-claims.ts';

export interface OidcOptions {
  readonly issuers: readonly IssuerConfiguration[];
  readonly fetch: Fetch;
  readonly clock: Clock;
}

export class OidcAuthenticator implements TokenAuthenticator {
  readonly #fetch: Fetch;
  readonly #clock: Clock;
  #issuers: ReadonlyMap<string, { readonly issuer: IssuerConfiguration; readonly keys: IssuerKeys }> = new Map();

  constructor({ issuers, fetch, clock }: OidcOptions) {
    this.#fetch = fetch;
    this.#clock = clock;
    this.use(issuers);
  }

  /** Replaces all issuers. */
  use(issuers: readonly IssuerConfiguration[]): void {
    this.#issuers = new Map(
      issuers.map((issuer) => {
        return [issuer.url, { issuer, keys: new IssuerKeys(issuer, this.#fetch, this.#clock) }] as const;
      }),
    );
  }

  authenticateToken(token: string): TokenIdentity | undefined | Promise<TokenIdentity> {
    if (this.#issuers.size === 0) return undefined;
    const jwt = parseJwt(token);
    const found = jwt && this.#issuers.get(String(jwt.claims['iss']));
    return found && this.#verify(jwt, found.issuer, found.keys);
  }

  async #verify(jwt: Jwt, issuer: IssuerConfiguration, keys: IssuerKeys): Promise<TokenIdentity> {
    const { claims } = jwt;
    const audiences = textsOf(claims['aud']) ?? [];
    if (!audiences.some((one) => issuer.audiences.includes(one))) {
      throw refused(`expected audience in ${JSON.stringify(issuer.audiences)} got ${JSON.stringify(audiences)}`);
    }
    const expiresAt = this.#checkTimes(jwt);
    const candidates = await keys.candidates(jwt.keyId);
    const isGood = candidates.some(
      ({ algorithm, key }) => (algorithm === '' || algorithm === jwt.algorithm) && isSignedBy(jwt, key),
    );
    if (!isGood) throw refused('failed to verify signature: failed to verify id token signature');
    try {
      return { user: userOfClaims(issuer, claims), expiresAt };
    } catch (error) {
      throw unauthorized((error as Error).message);
    }
  }

  /** Returns the expiry time. */
  #checkTimes({ claims }: Jwt): number {
    const now = this.#clock.now();
    let expiry: number | undefined;
    let begin: number | undefined;
    try {
      expiry = timeOf(claims, 'exp');
      begin = timeOf(claims, 'nbf');
    } catch (error) {
      throw refused((error as Error).message);
    }
    if (expiry === undefined || expiry * 1_000 <= now) throw refused('token is expired');
    // Allows for clock skew.
    if (begin !== undefined && begin * 1_000 > now + clockSkewMs) throw refused('token is not valid yet');
    return expiry * 1_000;
  }
}

const clockSkewMs = 300_000;

const refused = (why: string): Error => unauthorized(`oidc: verify token: oidc: ${why}`);
