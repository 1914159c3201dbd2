/** Tokens of service accounts: how they are issued, and the documents by which others can verify them. */

import type { JsonObject } from '@hangar/api';
import { lazy } from '@hangar/core';
import { signJwt, textsOf } from '../jwt/jwt.ts';
import type { SigningKey } from '../jwt/jwt.ts';
import { claimsOf } from './claims.ts';
import type { IssuedClaims } from './claims.ts';
import { KeySet } from './keys.ts';
import type { VerificationKey } from './keys.ts';

export interface ServiceAccountOptions {
  /** The first issues; tokens of all of them are accepted. */
  readonly issuers: readonly string[];
  /** Besides these: was it one of ours? Its tokens are accepted as well, when they are of our own keys. */
  readonly isFormerIssuer?: (issuer: unknown) => boolean;
  /** Of the API; absent: the issuers. */
  readonly audiences?: readonly string[];
  /** Asked for when a token is first issued. */
  readonly signingKey: SigningKey;
  /** Besides the signing key's: such as those of earlier signing keys. Asked for with the first token or document. */
  readonly verificationKeys: readonly VerificationKey[];
  /** 0: as long as is asked for. */
  readonly expirationSecondsMax?: number;
  /** Tokens that pods ask for live a year, so that clients that never read them again go on working. Absent: they do. */
  readonly extendsExpiration?: boolean;
  /** Where the keys are published, when it is not here. */
  readonly jwksUri?: string;
}

/** So long such tokens live at most. */
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

  /** Are tokens of this issuer looked at? */
  accepts(issuer: unknown): boolean {
    return this.issuers.includes(issuer as string) || this.#isFormerIssuer(issuer);
  }

  /**
   * What was for the API under the issuer's former name is for the API: a token for its own issuer. Any other audience is
   * somebody else, whatever it is called.
   */
  translated(claims: JsonObject): JsonObject {
    const { iss: issuer, aud } = claims;
    const named = textsOf(aud) ?? [];
    if (this.issuers.includes(issuer as string) || !named.includes(issuer as string)) return claims;
    return { ...claims, aud: [...named, ...this.audiences] };
  }

  /** What pods ask for, for the API itself, lives longer than they ask for. */
  extendedSeconds(askedSeconds: number, audiences: readonly string[]): number | undefined {
    const isOwn = audiences.every((one) => this.audiences.includes(one));
    return this.#extendsExpiration && askedSeconds === secondsThatPodsAskFor && isOwn ? extendedSeconds : undefined;
  }

  issue(claims: Omit<IssuedClaims, 'issuer'>): string {
    return signJwt(claimsOf({ ...claims, issuer: this.issuers[0]! }), this.#signingKey());
  }
}

/** An hour and seven seconds: so the projected volumes of pods are told from everybody else. */
const secondsThatPodsAskFor = 3_607;
