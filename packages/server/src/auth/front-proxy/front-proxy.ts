/**
 * Authenticates users that a front proxy names in headers. The headers count only if the connection has a certificate of the proxies' CA
 * with an allowed name; from other clients they are ignored.
 */

import type { Clock } from '@hangar/core';
import type { Peer, ServerRequest } from '../../http/message.ts';
import type { Authenticator } from '../authenticate.ts';
import { CertificateAuthorities } from '../authorities.ts';
import { extraOf, utf8 } from '../impersonation/wanted.ts';
import { authenticated } from '../user.ts';
import type { User } from '../user.ts';

export interface FrontProxyOptions {
  /** CAs of proxy certificates, PEM. */
  readonly authorities: string;
  /** Allowed common names; empty: any certificate of these CAs. */
  readonly allowedNames: readonly string[];
  /** The first with a value is used. */
  readonly usernameHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  /** All values of all headers are used. */
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
}

export class FrontProxyAuthenticator implements Authenticator {
  readonly #clock: Clock;
  readonly #authorities: CertificateAuthorities;
  readonly #allowedNames: ReadonlySet<string>;
  readonly #headers: Pick<FrontProxyOptions, 'usernameHeaders' | 'uidHeaders' | 'groupHeaders' | 'extraHeaderPrefixes'>;
  /** The certificate of a connection does not change. */
  readonly #proxies = new WeakMap<Peer, boolean>();

  constructor(clock: Clock, options: FrontProxyOptions) {
    const lower = (names: readonly string[]): string[] => names.map((name) => name.trim().toLowerCase());
    this.#clock = clock;
    this.#authorities = new CertificateAuthorities(options.authorities);
    this.#allowedNames = new Set(options.allowedNames);
    this.#headers = {
      usernameHeaders: lower(options.usernameHeaders),
      uidHeaders: lower(options.uidHeaders),
      groupHeaders: lower(options.groupHeaders),
      extraHeaderPrefixes: lower(options.extraHeaderPrefixes),
    };
  }

  authenticate(request: ServerRequest): User | undefined {
    if (!this.#isProxy(request.peer)) return undefined;
    const { usernameHeaders, uidHeaders, groupHeaders, extraHeaderPrefixes } = this.#headers;
    const name = firstValue(request, usernameHeaders);
    if (name === '') return undefined;
    const names = request.headerNames();
    return authenticated({
      name,
      uid: firstValue(request, uidHeaders),
      groups: groupHeaders.flatMap((header) => request.headerValues(header).map(utf8)).filter((group) => group !== ''),
      extra: merged(extraHeaderPrefixes.map((prefix) => extraOf(request, names, prefix))),
    });
  }

  #isProxy(peer: Peer): boolean {
    const { certificate } = peer;
    if (!certificate || certificate.expiresAt <= this.#clock.now()) return false;
    let isProxy = this.#proxies.get(peer);
    if (isProxy === undefined) {
      const isNamed = this.#allowedNames.size === 0 || this.#allowedNames.has(certificate.commonName);
      this.#proxies.set(peer, (isProxy = isNamed && this.#authorities.issued(certificate.chain?.())));
    }
    return isProxy;
  }
}

function firstValue(request: ServerRequest, headers: readonly string[]): string {
  for (const header of headers) {
    const value = request.headerValues(header)[0] ?? '';
    if (value !== '') return utf8(value);
  }
  return '';
}

type Extra = Readonly<Record<string, readonly string[]>>;

/** Merges the values of keys that occur with several prefixes. */
function merged(all: readonly Extra[]): Extra {
  const [first = {}] = all;
  if (all.length < 2) return first;
  const values = new Map<string, readonly string[]>();
  for (const [key, more] of all.flatMap((one) => Object.entries(one))) {
    values.set(key, [...(values.get(key) ?? []), ...more]);
  }
  return Object.fromEntries(values);
}
