/**
 * Tokens stored in secrets, as used before TokenRequest: they have no audience and do not expire. A token is valid as long as the secret
 * contains it. The date of the last use is recorded in the secret, so that unused secrets can be removed.
 */

import { timingSafeEqual } from 'node:crypto';
import { notFound, unauthorized } from '@hangar/api';
import type { JsonObject, KubeObject } from '@hangar/api';
import { objectKey } from '../../control-plane.ts';
import type { ControlPlane } from '../../control-plane.ts';
import { parseJwt } from '../jwt/jwt.ts';
import type { TokenAuthenticator, TokenIdentity } from '../tokens.ts';
import { checkSignature, commonAudiences } from './authenticate.ts';
import { find } from './lookup.ts';
import { accountNameOf, userOf } from './names.ts';
import type { ServiceAccounts } from './service-accounts.ts';

export const legacyIssuer = 'kubernetes/serviceaccount';
const lastUsedLabel = 'kubernetes.io/legacy-token-last-used';
const invalidSinceLabel = 'kubernetes.io/legacy-token-invalid-since';

interface LegacyClaims {
  readonly namespace: string;
  readonly secret: string;
  readonly account: string;
  readonly uid: string;
}

export class LegacyTokenAuthenticator implements TokenAuthenticator {
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
    if (jwt?.claims['iss'] !== legacyIssuer) return undefined;
    checkSignature(jwt, this.#accounts.keys);
    return this.#identify(token, jwt.claims, commonAudiences(jwt.claims, audiences, this.#accounts.audiences));
  }

  async #identify(token: string, raw: JsonObject, audiences: readonly string[]): Promise<TokenIdentity> {
    const claims = legacyClaims(raw);
    const { namespace, account: name, uid } = claims;
    const secret = await find(this.#plane, 'secrets', namespace, claims.secret);
    if (!secret || secret.object.metadata.deletionTimestamp !== undefined) {
      throw unauthorized('Token has been invalidated');
    }
    if (!holds(secret.object, token)) throw unauthorized("Token does not match server's copy");
    const account = await find(this.#plane, 'serviceaccounts', namespace, name);
    if (!account) throw unauthorized(notFound({ group: '', resource: 'serviceaccounts' }, name).message);
    const { metadata } = account.object;
    if (metadata.deletionTimestamp !== undefined) {
      throw unauthorized(`ServiceAccount ${namespace}/${name} has been deleted`);
    }
    if (metadata.uid !== uid) throw unauthorized(`ServiceAccount UID (${metadata.uid}) does not match claim (${uid})`);
    // A failure to record the use does not reject the token: the store may be full or temporarily read-only.
    await this.#noteUse(secret.object).catch(() => {});
    if (secret.object.metadata.labels?.[invalidSinceLabel]) throw unauthorized(markedInvalid(claims));
    return {
      user: userOf({ namespace, name, uid }),
      audiences,
      isCurrent: () => secret.isUnchanged() && account.isThere(),
    };
  }

  /** Records the use once a day; skipped if the secret is changed concurrently. Rejects if the store fails. */
  async #noteUse(secret: KubeObject): Promise<void> {
    const { namespace = '', name = '', labels } = secret.metadata;
    const today = new Date(this.#plane.clock.now()).toISOString().slice(0, 10);
    if ((labels?.[lastUsedLabel] ?? '') >= today) return;
    const { catalogue, store } = this.#plane;
    const resource = catalogue.find({ group: '', version: 'v1', resource: 'secrets' })!;
    const key = objectKey(this.#plane, resource, namespace, name);
    const { entry } = await store.get(key);
    if (!entry) return;
    const object = resource.stored.object(entry);
    if (object.metadata.uid !== secret.metadata.uid) return;
    object.metadata.labels = { ...object.metadata.labels, [lastUsedLabel]: today };
    const value = resource.stored.encode(object);
    await store.commit([{ type: 'put', key, value, expected: entry.modRevision }]);
  }
}

function legacyClaims(claims: JsonObject): LegacyClaims {
  const text = (claim: string, name: string): string => {
    const value = claims[claim];
    if (typeof value !== 'string' || value === '') throw unauthorized(`${name} claim is missing`);
    return value;
  };
  const own = 'kubernetes.io/serviceaccount/';
  const subject = text('sub', 'sub');
  const all = {
    namespace: text(`${own}namespace`, 'namespace'),
    secret: text(`${own}secret.name`, 'secretName'),
    account: text(`${own}service-account.name`, 'serviceAccountName'),
    uid: text(`${own}service-account.uid`, 'serviceAccountUID'),
  };
  const named = accountNameOf(subject);
  if (named?.namespace !== all.namespace || named.name !== all.account) throw unauthorized('sub claim is invalid');
  return all;
}

function holds(secret: KubeObject, token: string): boolean {
  const kept = Buffer.from((secret['data'] as Record<string, string> | undefined)?.['token'] ?? '', 'base64');
  const shown = Buffer.from(token);
  return kept.length === shown.length && timingSafeEqual(kept, shown);
}

const markedInvalid = ({ namespace, secret, account }: LegacyClaims): string =>
  `the token in secret ${namespace}/${secret} for service account ${namespace}/${account} has been marked invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the '${invalidSinceLabel}' label from the secret to temporarily allow use of this token`;
