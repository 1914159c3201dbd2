/**
 * The keys of one issuer, from its discovery document and key set. Fetched for the first token, and again when a token is signed with an
 * unknown key, since issuers rotate keys. The interval between fetches is at least a few seconds, so that unauthenticated clients cannot
 * cause a flood of them.
 */

import { createPublicKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { isObject } from '@hangar/api';
import type { Clock } from '@hangar/core';
import type { IssuerConfiguration } from './configuration.ts';

export interface IssuerKey {
  /** Empty: absent. */
  readonly id: string;
  /** Empty: any that fits the key. */
  readonly algorithm: string;
  readonly key: KeyObject;
}

/** Fetches a document; rejects on failure. */
export type Fetch = (url: string, ca: string | undefined) => Promise<unknown>;

const betweenReadsMs = 5_000;
/** Maximum time until a revoked key is dropped. */
const keysLastMs = 3_600_000;
const keysMax = 256;

export class IssuerKeys {
  readonly #issuer: IssuerConfiguration;
  readonly #fetch: Fetch;
  readonly #clock: Clock;
  #keys: readonly IssuerKey[] = [];
  #readAtMs = -Infinity;
  #triedAtMs = -Infinity;
  #error: Error | undefined;
  #reading: Promise<void> | undefined;

  constructor(issuer: IssuerConfiguration, fetch: Fetch, clock: Clock) {
    this.#issuer = issuer;
    this.#fetch = fetch;
    this.#clock = clock;
  }

  /** Returns the keys that may have signed the token. Rejects if the issuer is unreachable and no keys are cached. */
  async candidates(keyId: string): Promise<readonly IssuerKey[]> {
    if (this.#clock.monotonicMs() - this.#readAtMs > keysLastMs) await this.#read();
    let found = this.#matching(keyId);
    if (found.length === 0) {
      await this.#read();
      found = this.#matching(keyId);
    }
    if (found.length === 0 && this.#keys.length === 0 && this.#error) throw this.#error;
    return found;
  }

  #matching(keyId: string): readonly IssuerKey[] {
    return keyId === '' ? this.#keys : this.#keys.filter(({ id }) => id === keyId || id === '');
  }

  #read(): Promise<void> {
    const now = this.#clock.monotonicMs();
    if (!this.#reading && now - this.#triedAtMs < betweenReadsMs) return Promise.resolve();
    this.#triedAtMs = now;
    return (this.#reading ??= this.#readNow().finally(() => (this.#reading = undefined)));
  }

  /** Never rejects: cached keys are used until they are too old. */
  async #readNow(): Promise<void> {
    try {
      this.#keys = await this.#fetchKeys();
      this.#readAtMs = this.#clock.monotonicMs();
      this.#error = undefined;
    } catch (error) {
      this.#error = new Error(`oidc: failed to fetch the keys of ${this.#issuer.url}: ${(error as Error).message}`);
      if (this.#clock.monotonicMs() - this.#readAtMs > keysLastMs) this.#keys = [];
    }
  }

  async #fetchKeys(): Promise<IssuerKey[]> {
    const { url, discoveryUrl, ca } = this.#issuer;
    const place = discoveryUrl ?? `${url.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const { issuer, jwks_uri: keysUrl } = asObject(await this.#fetch(place, ca));
    if (issuer !== url) throw new Error(`the issuer in its discovery document is ${JSON.stringify(issuer)}`);
    if (typeof keysUrl !== 'string') throw new Error('its discovery document has no jwks_uri');
    const { keys } = asObject(await this.#fetch(keysUrl, ca));
    if (!Array.isArray(keys)) throw new Error('its key set has no keys');
    return keys.slice(0, keysMax).flatMap(readKey);
  }
}

/** Keys for other uses and of unknown types are ignored. */
function readKey(value: unknown): IssuerKey[] {
  if (!isObject(value) || (value['use'] !== undefined && value['use'] !== 'sig')) return [];
  const { kid, alg, kty } = value;
  if (kty !== 'RSA' && kty !== 'EC') return [];
  try {
    const key = createPublicKey({ key: value as never, format: 'jwk' });
    return [{ id: typeof kid === 'string' ? kid : '', algorithm: typeof alg === 'string' ? alg : '', key }];
  } catch {
    return [];
  }
}

function asObject(value: unknown): Record<string, unknown> {
  if (!isObject(value)) throw new Error('the document is not a JSON object');
  return value;
}
