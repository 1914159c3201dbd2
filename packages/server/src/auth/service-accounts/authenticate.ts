/** Verifies tokens issued by TokenRequest: signature, issuer, audience, times, and the existence of the objects they are bound to. */

import { notFound, quote, unauthorized } from '@hangar/api';
import type { JsonObject } from '@hangar/api';
import type { ControlPlane } from '../../control-plane.ts';
import { isSignedBy, parseJwt, textsOf } from '../jwt/jwt.ts';
import type { Jwt } from '../jwt/jwt.ts';
import type { TokenAuthenticator, TokenIdentity } from '../tokens.ts';
import { boundClaims, checkTimes } from './claims.ts';
import type { BoundClaims } from './claims.ts';
import type { KeySet } from './keys.ts';
import { find, isDeleted } from './lookup.ts';
import type { Found } from './lookup.ts';
import { userOf } from './names.ts';
import type { Reference } from './names.ts';
import type { ServiceAccounts } from './service-accounts.ts';

export class ServiceAccountAuthenticator implements TokenAuthenticator {
  readonly #plane: ControlPlane;
  readonly #accounts: ServiceAccounts;

  constructor(plane: ControlPlane, accounts: ServiceAccounts) {
    this.#plane = plane;
    this.#accounts = accounts;
  }

  authenticateToken(
    token: string,
    audiences: readonly string[],
  ): TokenIdentity | undefined | Promise<TokenIdentity | undefined> {
    const jwt = parseJwt(token);
    // Untrusted: only selects the authenticator.
    const issuer = jwt?.claims['iss'];
    if (!jwt || !this.#accounts.accepts(issuer)) return undefined;
    checkSignature(jwt, this.#accounts.keys);
    const common = commonAudiences(this.#accounts.translated(jwt.claims), audiences, this.#accounts.audiences);
    return this.#identify(jwt.claims, common);
  }

  async #identify(claims: JsonObject, audiences: readonly string[]): Promise<TokenIdentity> {
    const expiresAt = checkTimes(claims, this.#plane.clock.now());
    const bound = boundClaims(claims);
    const { pod, node, secret } = bound;
    const dependedOn = [await this.#account(bound)];
    if (secret) dependedOn.push(await this.#boundObject('secret', bound.namespace, secret));
    if (pod) dependedOn.push(await this.#boundObject('pod', bound.namespace, pod));
    // The node of a pod is informational and need not exist.
    else if (node) dependedOn.push(await this.#boundObject('node', '', node));
    return { user: userOf(bound), audiences, expiresAt, isCurrent: () => dependedOn.every((one) => one.isThere()) };
  }

  async #account({ namespace, name, uid }: BoundClaims): Promise<Found> {
    const found = await find(this.#plane, 'serviceaccounts', namespace, name);
    if (!found) throw unauthorized(notFound({ group: '', resource: 'serviceaccounts' }, name).message);
    const { metadata } = found.object;
    if (metadata.uid !== uid) throw unauthorized(`service account UID (${metadata.uid}) does not match claim (${uid})`);
    if (isDeleted(found.object, this.#plane.clock.now())) {
      throw unauthorized(`service account ${namespace}/${name} has been deleted`);
    }
    return found;
  }

  async #boundObject(kind: 'secret' | 'pod' | 'node', namespace: string, { name, uid }: Reference): Promise<Found> {
    const found = await find(this.#plane, `${kind}s`, namespace, name);
    if (!found || isDeleted(found.object, this.#plane.clock.now())) {
      throw unauthorized('service account token has been invalidated');
    }
    const actual = found.object.metadata.uid;
    if (actual === uid) return found;
    throw unauthorized(`${kind} UID (${actual}) does not match service account ${kind} ref claim (${uid})`);
  }
}

export function checkSignature(jwt: Jwt, keys: KeySet): void {
  const candidates = keys.candidates(jwt.keyId);
  if (candidates.length === 0) throw unauthorized('invalid signature, no keys found');
  if (!hasSigned(keys, jwt)) throw unauthorized('go-jose/go-jose: error in cryptographic primitive');
}

/** The key determines the algorithm, not the token. */
export const hasSigned = (keys: KeySet, jwt: Jwt): boolean =>
  keys.candidates(jwt.keyId).some(({ algorithm, key }) => algorithm === jwt.algorithm && isSignedBy(jwt, key));

/** Throws if there are none. Tokens without an audience are for the API server. */
export function commonAudiences(claims: JsonObject, asked: readonly string[], own: readonly string[]): string[] {
  const named = textsOf(claims['aud']);
  if (!named) throw unauthorized('service account token claims could not be validated');
  const audiences = named.length === 0 ? own : named;
  const common = asked.filter((one) => audiences.includes(one));
  if (common.length > 0) return common;
  throw unauthorized(`token audiences ${listOf(audiences)} is invalid for the target audiences ${listOf(asked)}`);
}

const listOf = (texts: readonly string[]): string => `[${texts.map(quote).join(' ')}]`;
