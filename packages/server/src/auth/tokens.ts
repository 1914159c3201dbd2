/**
 * Authentication of bearer tokens. Each kind of token has an authenticator. Requests and TokenReviews use the same authenticators, in
 * order.
 */

import { unauthorized } from '@hangar/api';
import { hasCode } from '@hangar/core';
import { isPromise } from './promise.ts';
import { authenticated } from './user.ts';
import type { User } from './user.ts';

/** A plain object: copied by spreading. */
export interface TokenIdentity {
  /** Without the group of authenticated users, which is added later. */
  readonly user: User;
  /** The requested audiences that the token is for. Absent: tokens of this kind are for the API server. */
  readonly audiences?: readonly string[];
  /** Expiry in milliseconds since 1970. Absent: unknown. */
  readonly expiresAt?: number;
  /** Returns false when the identity is known to be invalid. Called for every request: must be cheap. */
  isCurrent?(): boolean;
}

export interface TokenAuthenticator {
  /**
   * Returns undefined if the token is of another kind; the next authenticator then runs. Throws or rejects with `unauthorized(why)` if the
   * token is of this kind and invalid; the others still run. Any other error means that the result is unknown. Synchronous where possible.
   */
  authenticateToken(
    token: string,
    audiences: readonly string[],
  ): TokenIdentity | undefined | Promise<TokenIdentity | undefined>;
}

export const isTokenAuthenticator = (one: object): one is TokenAuthenticator => 'authenticateToken' in one;

/** Identity of any kind of token; audiences are never empty. */
export interface ProvenIdentity extends TokenIdentity {
  readonly audiences: readonly string[];
}

export type Proven = ProvenIdentity | undefined;

/** Returns the result of the first authenticator that accepts the token. Otherwise the error combines all reasons. */
export class TokenUnion {
  readonly #authenticators: readonly TokenAuthenticator[];
  readonly #ownAudiences: readonly string[];

  /** `ownAudiences`: audiences of the API server. */
  constructor(authenticators: readonly TokenAuthenticator[], ownAudiences: readonly string[]) {
    this.#authenticators = authenticators;
    this.#ownAudiences = ownAudiences;
  }

  /** Throws or rejects with `Unauthorized` if an authenticator gave a reason. */
  authenticateToken(token: string, audiences: readonly string[]): Proven | Promise<Proven> {
    return this.#from(0, token, audiences, []);
  }

  #from(at: number, token: string, audiences: readonly string[], errors: unknown[]): Proven | Promise<Proven> {
    for (; at < this.#authenticators.length; at++) {
      try {
        const outcome = this.#authenticators[at]!.authenticateToken(token, audiences);
        if (isPromise(outcome)) {
          const following = at + 1;
          return outcome
            .then((identity) => this.#proven(identity, audiences))
            .catch((error: unknown) => void errors.push(error))
            .then((proven) => proven ?? this.#from(following, token, audiences, errors));
        }
        const proven = this.#proven(outcome, audiences);
        if (proven) return proven;
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw worst(errors);
    return undefined;
  }

  #proven(identity: TokenIdentity | undefined, asked: readonly string[]): Proven {
    if (!identity) return undefined;
    const audiences = identity.audiences ?? asked.filter((one) => this.#ownAudiences.includes(one));
    return audiences.length === 0 ? undefined : { ...identity, audiences, user: authenticated(identity.user) };
  }
}

/** Returns the first internal error; otherwise combines the reasons. */
function worst(errors: readonly unknown[]): Error {
  const failure = errors.find((error) => !hasCode(error, 'Unauthorized'));
  if (failure) return failure as Error;
  const texts = [...new Set(errors.map((error) => (error as Error).message))];
  return unauthorized(texts.join(', '));
}
