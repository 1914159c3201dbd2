/**
 * Encryption providers, each in kube-apiserver's own format: `k8s:enc:<provider>:v1:<key name>:` followed by the ciphertext, so that a real
 * kube-apiserver with the same configuration can read the same store.
 */

import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { Random } from '@hangar/core';
import { nonceBytes, open, seal } from './secretbox.ts';

export interface Provider {
  /** Prefix of the values that it encrypted. */
  readonly prefix: Buffer;
  seal(plain: Uint8Array, key: string, random: Random): Uint8Array;
  /**
   * Decrypts the bytes after the prefix. Returns undefined if the value was encrypted with another key, for another path, or was changed.
   */
  open(sealed: Uint8Array, key: string): Uint8Array | undefined;
}

export interface ProviderKey {
  readonly name: string;
  readonly secret: Uint8Array;
}

export type ProviderName = 'aesgcm' | 'aescbc' | 'secretbox';

/** Valid secret lengths of each provider. */
export const secretLengths: Readonly<Record<ProviderName, readonly number[]>> = {
  aesgcm: [16, 24, 32],
  aescbc: [16, 24, 32],
  secretbox: [32],
};

const gcmNonceBytes = 12;
const gcmTagBytes = 16;
const cbcBlockBytes = 16;

/** Prefix of any encrypted value. */
const sealedPrefix = Buffer.from('k8s:enc:');

const startsWith = (value: Uint8Array, prefix: Buffer): boolean =>
  value.length >= prefix.length && prefix.compare(value, 0, prefix.length) === 0;

export const isSealed = (value: Uint8Array): boolean => startsWith(value, sealedPrefix);

export const isSealedBy = (value: Uint8Array, { prefix }: Provider): boolean => startsWith(value, prefix);

export function provider(name: ProviderName, key: ProviderKey): Provider {
  const prefix = Buffer.from(`k8s:enc:${name}:v1:${key.name}:`);
  switch (name) {
    case 'aesgcm':
      return { prefix, ...aesGcm(key.secret) };
    case 'aescbc':
      return { prefix, ...aesCbc(key.secret) };
    case 'secretbox':
      return { prefix, ...secretbox(key.secret) };
  }
}

type Sealing = Pick<Provider, 'seal' | 'open'>;

/** Authenticates the path of the key as well: an encrypted value that is moved elsewhere cannot be decrypted there. */
function aesGcm(secret: Uint8Array): Sealing {
  const cipher = `aes-${secret.length * 8}-gcm` as 'aes-256-gcm';
  return {
    seal(plain, path, random) {
      const nonce = random.bytes(gcmNonceBytes);
      const sealing = createCipheriv(cipher, secret, nonce).setAAD(Buffer.from(path));
      return Buffer.concat([nonce, sealing.update(plain), sealing.final(), sealing.getAuthTag()]);
    },
    open(sealed, path) {
      if (sealed.length < gcmNonceBytes + gcmTagBytes) return undefined;
      const tagAt = sealed.length - gcmTagBytes;
      const opening = createDecipheriv(cipher, secret, sealed.subarray(0, gcmNonceBytes), {
        authTagLength: gcmTagBytes,
      });
      opening.setAAD(Buffer.from(path)).setAuthTag(sealed.subarray(tagAt));
      return finished(opening, sealed.subarray(gcmNonceBytes, tagAt));
    },
  };
}

/** Unauthenticated: kept for stores that already use it. */
function aesCbc(secret: Uint8Array): Sealing {
  const cipher = `aes-${secret.length * 8}-cbc`;
  return {
    seal(plain, _path, random) {
      const start = random.bytes(cbcBlockBytes);
      const sealing = createCipheriv(cipher, secret, start);
      return Buffer.concat([start, sealing.update(plain), sealing.final()]);
    },
    open(sealed) {
      if (sealed.length < 2 * cbcBlockBytes) return undefined;
      const opening = createDecipheriv(cipher, secret, sealed.subarray(0, cbcBlockBytes));
      return finished(opening, sealed.subarray(cbcBlockBytes));
    },
  };
}

function finished(
  opening: { update(bytes: Uint8Array): Buffer; final(): Buffer },
  text: Uint8Array,
): Uint8Array | undefined {
  try {
    return Buffer.concat([opening.update(text), opening.final()]);
  } catch {
    return undefined;
  }
}

function secretbox(secret: Uint8Array): Sealing {
  return {
    seal(plain, _path, random) {
      const nonce = random.bytes(nonceBytes);
      return Buffer.concat([nonce, seal(plain, nonce, secret)]);
    },
    open: (sealed) => open(sealed.subarray(nonceBytes), sealed.subarray(0, nonceBytes), secret),
  };
}
