/**
 * Authenticates `Authorization: Bearer …`. A client sends the same token with every request of a connection: the result is cached with the
 * connection, for as long as in the token cache.
 */

import { hasCode } from '@hangar/core';
import type { Peer, ServerRequest } from '../http/message.ts';
import type { Authenticator } from './authenticate.ts';
import { isPromise } from './promise.ts';
import type { Remembered, TokenCache } from './token-cache.ts';
import type { User } from './user.ts';

export class BearerAuthenticator implements Authenticator {
  readonly #cache: TokenCache;
  readonly #audiences: readonly string[];
  readonly #known = new WeakMap<Peer, { readonly authorization: string; readonly record: Remembered }>();

  constructor(cache: TokenCache, audiences: readonly string[]) {
    this.#cache = cache;
    this.#audiences = audiences;
  }

  authenticate(request: ServerRequest): User | undefined | Promise<User | undefined> {
    const authorization = request.header('authorization');
    if (authorization === undefined) return undefined;
    const known = this.#known.get(request.peer);
    if (known?.authorization === authorization && this.#cache.isGood(known.record)) return known.record.identity!.user;
    const token = bearerToken(authorization);
    if (token === undefined) return undefined;
    const record = this.#cache.remembered(token, this.#audiences);
    if (isPromise(record)) return record.then((found) => this.#keep(request.peer, authorization, found));
    return this.#keep(request.peer, authorization, record);
  }

  /** The reason why a token is invalid is not reported: the response is always 401. */
  #keep(peer: Peer, authorization: string, record: Remembered): User | undefined {
    if (record.error !== undefined && !hasCode(record.error, 'Unauthorized')) throw record.error;
    if (!record.identity) return undefined;
    this.#known.set(peer, { authorization, record });
    return record.identity.user;
  }
}

export function bearerToken(authorization: string | undefined): string | undefined {
  const match = /^bearer +(\S+) *$/i.exec(authorization ?? '');
  return match?.[1];
}
