/** From a request to its user: client certificates, then bearer tokens; nobody is anonymous unless the path is public. */

import { timingSafeEqual, createHash } from 'node:crypto';
import type { Clock } from '@hangar/core';
import type { Peer, ServerRequest } from '../http/message.ts';
import { authenticatedGroup } from './user.ts';
import type { User } from './user.ts';

export interface Authenticator {
  /** Undefined when the request shows nothing that is known here; the next one is asked. */
  authenticate(request: ServerRequest): User | undefined | Promise<User | undefined>;
}

/** The verified certificate's subject is the user: the common name, with each organization as a group. */
export class CertificateAuthenticator implements Authenticator {
  readonly #clock: Clock;
  /** A connection's certificate does not change. */
  readonly #users = new WeakMap<Peer, User>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  authenticate({ peer }: ServerRequest): User | undefined {
    const { certificate } = peer;
    if (!certificate || certificate.commonName === '' || certificate.expiresAt <= this.#clock.now()) return undefined;
    let user = this.#users.get(peer);
    if (!user) {
      const { commonName, organizations } = certificate;
      user = { name: commonName, uid: '', groups: [...organizations, authenticatedGroup], extra: {} };
      this.#users.set(peer, user);
    }
    return user;
  }
}

export interface StaticToken {
  readonly token: string;
  readonly user: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
}

/** Tokens from a file. Compared by their digests, in constant time; a connection that sends the same again is known. */
export class StaticTokenAuthenticator implements Authenticator {
  readonly #users: readonly { digest: Buffer; user: User }[];
  readonly #known = new WeakMap<Peer, { readonly authorization: string; readonly user: User }>();

  constructor(tokens: readonly StaticToken[]) {
    this.#users = tokens.map(({ token, user, uid, groups }) => ({
      digest: digestOf(token),
      user: { name: user, uid: uid ?? '', groups: [...(groups ?? []), authenticatedGroup], extra: {} },
    }));
  }

  authenticate(request: ServerRequest): User | undefined {
    const authorization = request.header('authorization');
    if (authorization === undefined) return undefined;
    const known = this.#known.get(request.peer);
    if (known?.authorization === authorization) return known.user;
    const token = bearerToken(authorization);
    if (token === undefined) return undefined;
    const digest = digestOf(token);
    const user = this.#users.find((one) => timingSafeEqual(one.digest, digest))?.user;
    if (user) this.#known.set(request.peer, { authorization, user });
    return user;
  }
}

const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest();

export function bearerToken(authorization: string | undefined): string | undefined {
  const match = /^bearer +(\S+) *$/i.exec(authorization ?? '');
  return match?.[1];
}
