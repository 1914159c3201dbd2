/** Issues service account tokens and serves the documents for verifying them. */

import type { JsonObject } from '@hangar/api';
import { lazy } from '@hangar/core';
import { signJwt, textsOf } from '../jwt/jwt.ts';
import type { SigningKey } from '../jwt/jwt.ts';
import { claimsOf } from './claims.ts';
import type { IssuedClaims } from './claims.ts';
import { KeySet } from './keys.ts';
import type { VerificationKey } from './keys.ts';

export interface ServiceAccountOptions {
  /** The first one issues; tokens of all are accepted. */
  readonly issuers: readonly string[];
  /** Reports whether this server used the issuer before. Its tokens are accepted if signed with the keys of this server. */
  readonly isFormerIssuer?: (issuer: unknown) => boolean;
  /** Audiences of the API server; absent: the issuers. */
  readonly audiences?: readonly string[];
  /** Read when the first token is issued. */
  readonly signingKey: SigningKey;
  /** Further keys, such as earlier signing keys. Read with the first token or document. */
  readonly verificationKeys: readonly VerificationKey[];
  /** 0: no limit. */
  readonly expirationSecondsMax?: number;
  /** Extends tokens of pods to a year, so that clients that never reload them keep working. Absent: true. */
  readonly extendsExpiration?: boolean;
  /** URL of the published keys, if not on this server. */
  readonly jwksUri?: string;
}

/** Lifetime of extended tokens. */
const extendedSeconds = 365 * 86_400;

export class ServiceAccounts {
  readonly issuers: readonly string[];
  readonly audiences: readonly string[];
  readonly expirationSecondsMax: number;
  readonly jwksUri: string | undefined;
  readonly #isFormerIssuer: (issuer: unknown) => boolean;
  readonly #signingKey: () => SigningKey;
  readonly #keys: () => KeySet;
  readonly #extendsExpiration: boolean;

  constructor(options: ServiceAccountOptions) {
    this.issuers = options.issuers;
    this.audiences = options.audiences?.length ? options.audiences : options.issuers;
    this.#isFormerIssuer = options.isFormerIssuer ?? (() => false);
    this.#keys = lazy(() => new KeySet(options.verificationKeys));
    this.expirationSecondsMax = options.expirationSecondsMax ?? 0;
    this.jwksUri = options.jwksUri;
    this.#signingKey = lazy(() => options.signingKey);
    this.#extendsExpiration = options.extendsExpiration ?? true;
  }

  get keys(): KeySet {
    return this.#keys();
  }

  /** Reports whether tokens of this issuer are verified. */
  accepts(issuer: unknown): boolean {
    return this.issuers.includes(issuer as string) || this.#isFormerIssuer(issuer);
  }

  /** Adds the audiences of the API server to a token that a former issuer issued for itself. Other audiences are kept. */
  translated(claims: JsonObject): JsonObject {
    const { iss: issuer, aud } = claims;
    const named = textsOf(aud) ?? [];
    if (this.issuers.includes(issuer as string) || !named.includes(issuer as string)) return claims;
    return { ...claims, aud: [...named, ...this.audiences] };
  }

  /** Returns the extended lifetime of tokens that pods request for the API server; undefined for others. */
  extendedSeconds(askedSeconds: number, audiences: readonly string[]): number | undefined {
    const isOwn = audiences.every((one) => this.audiences.includes(one));
    return this.#extendsExpiration && askedSeconds === secondsThatPodsAskFor && isOwn ? extendedSeconds : undefined;
  }

  issue(claims: Omit<IssuedClaims, 'issuer'>): string {
    return signJwt(claimsOf({ ...claims, issuer: this.issuers[0]! }), this.#signingKey());
  }
}

/** Lifetime that projected volumes of pods request: an hour and seven seconds, which identifies them. */
const secondsThatPodsAskFor = 3_607;
