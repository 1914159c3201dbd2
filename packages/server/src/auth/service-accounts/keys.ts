/**
 * The keys of service account tokens: one signs, all verify, so that a key can be replaced while tokens of the old key are in use. The id
 * of a key is derived from its public key.
 */

import { createPrivateKey, createPublicKey, hash } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import type { JsonObject } from '@hangar/api';
import { algorithmOf } from '../jwt/algorithms.ts';
import type { SigningKey } from '../jwt/jwt.ts';

export interface VerificationKey {
  readonly id: string;
  readonly algorithm: string;
  readonly key: KeyObject;
}

const pemBlocks = /-----BEGIN ([A-Z0-9 ]+)-----[^-]+-----END \1-----/g;

/** Throws if it is not a supported signing key. */
export function signingKeyOf(pem: string): SigningKey {
  const key = createPrivateKey(pem);
  return { id: verificationKey(createPublicKey(key)).id, key };
}

/** Returns the public keys of all keys and certificates in a file. Throws if there are none. */
export function verificationKeysOf(pem: string): VerificationKey[] {
  const blocks = (pem.match(pemBlocks) ?? []).filter((block) => !block.includes('BEGIN EC PARAMETERS'));
  if (blocks.length === 0) throw new Error('data does not contain any valid RSA or ECDSA public keys');
  return blocks.map((block) => verificationKey(createPublicKey(block)));
}

function verificationKey(key: KeyObject): VerificationKey {
  const algorithm = algorithmOf(key);
  if (algorithm === undefined) throw new Error(`tokens cannot be signed with keys of type ${key.asymmetricKeyType}`);
  return { id: hash('sha256', key.export({ type: 'spki', format: 'der' }), 'base64url'), algorithm, key };
}

export class KeySet {
  readonly all: readonly VerificationKey[];

  /** Duplicate keys are dropped. */
  constructor(keys: readonly VerificationKey[]) {
    this.all = [...new Map(keys.map((key) => [key.id, key])).values()];
  }

  /** Returns the key that a token names, or all keys if it names none. */
  candidates(id: string): readonly VerificationKey[] {
    return id === '' ? this.all : this.all.filter((key) => key.id === id);
  }

  get algorithms(): string[] {
    return [...new Set(this.all.map(({ algorithm }) => algorithm))].sort();
  }

  /** RFC 7517. */
  get jwks(): { keys: JsonObject[] } {
    return { keys: this.all.map(jwkOf) };
  }
}

function jwkOf({ id, algorithm, key }: VerificationKey): JsonObject {
  const { kty, crv, x, y, n, e } = key.export({ format: 'jwk' });
  const common = { use: 'sig', kty, kid: id };
  return kty === 'EC' ? { ...common, crv, alg: algorithm, x, y } : { ...common, alg: algorithm, n, e };
}
