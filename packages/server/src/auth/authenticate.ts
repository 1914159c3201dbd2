/** Authenticates requests by client certificate and by tokens from a file. Other methods have separate folders. */

import { createHash, timingSafeEqual } from 'node:crypto';
import type { Clock } from '@hangar/core';
import type { Peer, ServerRequest } from '../http/message.ts';
import { CertificateAuthorities } from './authorities.ts';
import type { TokenAuthenticator, TokenIdentity } from './tokens.ts';
import { authenticatedGroup, credentialId } from './user.ts';
import type { User } from './user.ts';

export interface Authenticator {
  /** Returns undefined if the request has no credential for this authenticator; the next one then runs. */
  authenticate(request: ServerRequest): User | undefined | Promise<User | undefined>;
}

/** Authenticates by the subject of the verified certificate: the common name is the user, each organization a group. */
export class CertificateAuthenticator implements Authenticator {
  readonly #clock: Clock;
  #authorities: CertificateAuthorities | undefined;
  /** The certificate of a connection does not change. Null: issued by another CA. */
  #users = new WeakMap<Peer, User | null>();

  /** `authorities`: the PEM certificates of the CAs that issue user certificates, if the listener also trusts others. */
  constructor(clock: Clock, authorities?: string) {
    this.#clock = clock;
    if (authorities !== undefined) this.#authorities = new CertificateAuthorities(authorities);
  }

  /** Replaces the CAs for later requests, also on open connections. Throws if there are none. */
  use(authorities: string): void {
    this.#authorities = new CertificateAuthorities(authorities);
    this.#users = new WeakMap();
  }

  authenticate({ peer }: ServerRequest): User | undefined {
    const { certificate } = peer;
    if (!certificate || certificate.commonName === '' || certificate.expiresAt <= this.#clock.now()) return undefined;
    let user = this.#users.get(peer);
    if (user === undefined) this.#users.set(peer, (user = this.#userOf(peer)));
    return user ?? undefined;
  }

  #userOf({ certificate }: Peer): User | null {
    if (!certificate || (this.#authorities && !this.#authorities.issued(certificate.chain?.()))) return null;
    const { commonName, organizations, uid = '' } = certificate;
    const digest = certificate.digest?.();
    const extra = digest === undefined ? {} : { [credentialId]: [`X509SHA256=${digest}`] };
    return { name: commonName, uid, groups: [...organizations, authenticatedGroup], extra };
  }
}

export interface StaticToken {
  readonly token: string;
  readonly user: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
}

/** Authenticates tokens from a file. Compares digests in constant time. */
export class StaticTokenAuthenticator implements TokenAuthenticator {
  readonly #users: readonly { digest: Buffer; user: User }[];

  constructor(tokens: readonly StaticToken[]) {
    this.#users = tokens.map(({ token, user, uid, groups }) => ({
      digest: digestOf(token),
      user: { name: user, uid: uid ?? '', groups: groups ?? [], extra: {} },
    }));
  }

  authenticateToken(token: string): TokenIdentity | undefined {
    const digest = digestOf(token);
    const user = this.#users.find((one) => timingSafeEqual(one.digest, digest))?.user;
    return user && { user };
  }
}

const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest();
