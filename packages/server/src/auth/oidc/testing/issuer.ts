/** An OpenID Connect issuer for tests, with key rotation and tokens with arbitrary claims. */

import { generateKeyPairSync } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import type { JsonObject } from '@hangar/api';
import { signJwt } from '../../jwt/jwt.ts';

interface TestKey {
  readonly id: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

export class TestIssuer {
  readonly url: string;
  #keys: TestKey[] = [];
  /** Number of requests for the key set. */
  reads = 0;

  constructor(url: string) {
    this.url = url;
    this.addKey('first');
  }

  addKey(id: string): void {
    this.#keys.push({ id, ...generateKeyPairSync('ec', { namedCurve: 'prime256v1' }) });
  }

  /** Keeps only the last key, which signs tokens. */
  removeOldKeys(): void {
    this.#keys = this.#keys.slice(-1);
  }

  token(claims: JsonObject, key = this.#keys.at(-1)!): string {
    const now = Math.floor(Date.now() / 1_000);
    const usual = { iss: this.url, aud: 'hangar', sub: 'jane', iat: now, exp: now + 3_600 };
    return signJwt({ ...usual, ...claims }, { id: key.id, key: key.privateKey });
  }

  /** Returns the document at a path; undefined if there is none. */
  document(path: string): object | undefined {
    if (path.endsWith('/.well-known/openid-configuration')) {
      const keysUrl = `${this.url}/keys`;
      return {
        issuer: this.url,
        jwks_uri: keysUrl,
        authorization_endpoint: `${this.url}/authorize`,
        response_types_supported: ['id_token'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['ES256'],
      };
    }
    if (!path.endsWith('/keys')) return undefined;
    this.reads++;
    return {
      keys: this.#keys.map(({ id, publicKey }) => ({
        ...publicKey.export({ format: 'jwk' }),
        kid: id,
        use: 'sig',
        alg: 'ES256',
      })),
    };
  }
}
