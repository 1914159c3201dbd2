/**
 * What a bearer token proves, whoever issued it. Every kind of token has an authenticator; a request and a TokenReview ask
 * the same ones, in order.
 */

import { unauthorized } from '@hangar/api';
import { hasCode } from '@hangar/core';
import { isPromise } from './promise.ts';
import { authenticated } from './user.ts';
import type { User } from './user.ts';

/** A plain object: it is copied. */
export interface TokenIdentity {
  /** Without the group of all who are authenticated: it is added for everybody alike. */
  readonly user: User;
  /** Those that were asked for and that the token is meant for. Absent: tokens of this kind are for the API's own. */
  readonly audiences?: readonly string[];
  /** From when on the token proves nothing; milliseconds since 1970. Absent: it says nothing of an end. */
  readonly expiresAt?: number;
  /** False as soon as it is known that what was proven holds no longer. Asked with every request: it must cost nothing. */
  isCurrent?(): boolean;
}

export interface TokenAuthenticator {
  /**
   * Undefined: not a token of this kind; the next authenticator is asked. Throws or rejects with `unauthorized(why)` when it
   * is of this kind and not good; the others are asked nevertheless. Any other error means that it could not be found out.
   * Synchronous where nothing has to be waited for.
   */
  authenticateToken(
    token: string,
    audiences: readonly string[],
  ): TokenIdentity | undefined | Promise<TokenIdentity | undefined>;
}

export const isTokenAuthenticator = (one: object): one is TokenAuthenticator => 'authenticateToken' in one;

/** Of any kind of token; the audiences are never empty. */
export interface ProvenIdentity extends TokenIdentity {
  readonly audiences: readonly string[];
}

export type Proven = ProvenIdentity | undefined;

/** The first that knows the token. When none does, and some say why, the error says it all. */
export class TokenUnion {
  readonly #authenticators: readonly TokenAuthenticator[];
  readonly #ownAudiences: readonly string[];

  /** `ownAudiences`: of the API. */
  constructor(authenticators: readonly TokenAuthenticator[], ownAudiences: readonly string[]) {
    this.#authenticators = authenticators;
    this.#ownAudiences = ownAudiences;
  }

  /** Throws or rejects with `Unauthorized` when somebody says why the token is not good. */
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

/** What could not be found out is the server's own failure; else all that was said of the token. */
function worst(errors: readonly unknown[]): Error {
  const failure = errors.find((error) => !hasCode(error, 'Unauthorized'));
  if (failure) return failure as Error;
  const texts = [...new Set(errors.map((error) => (error as Error).message))];
  return unauthorized(texts.join(', '));
}
