/**
 * Asymmetric signatures of JSON Web Tokens (RFC 7518). The key determines the allowed algorithms, never the token: otherwise a public key
 * could be used as a shared secret. `none` and HMAC are not supported.
 */

import { constants, sign, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

interface Algorithm {
  readonly hash: 'sha256' | 'sha384' | 'sha512';
  readonly type: 'rsa' | 'ec';
  /** Only for elliptic curves. */
  readonly curve?: string;
  readonly isPss?: true;
}

const algorithms: Readonly<Record<string, Algorithm>> = {
  RS256: { hash: 'sha256', type: 'rsa' },
  RS384: { hash: 'sha384', type: 'rsa' },
  RS512: { hash: 'sha512', type: 'rsa' },
  PS256: { hash: 'sha256', type: 'rsa', isPss: true },
  PS384: { hash: 'sha384', type: 'rsa', isPss: true },
  PS512: { hash: 'sha512', type: 'rsa', isPss: true },
  ES256: { hash: 'sha256', type: 'ec', curve: 'prime256v1' },
  ES384: { hash: 'sha384', type: 'ec', curve: 'secp384r1' },
  ES512: { hash: 'sha512', type: 'ec', curve: 'secp521r1' },
};

const byName = (name: string): Algorithm | undefined =>
  Object.hasOwn(algorithms, name) ? algorithms[name] : undefined;

/** Returns false for unknown algorithms and for keys of another type. */
export function fits(name: string, key: KeyObject): boolean {
  const algorithm = byName(name);
  if (algorithm?.type !== key.asymmetricKeyType) return false;
  return algorithm?.curve === undefined || key.asymmetricKeyDetails?.namedCurve === algorithm.curve;
}

/** Returns the algorithm that Kubernetes uses to sign with the key; undefined for unsupported keys. */
export function algorithmOf(key: KeyObject): string | undefined {
  return ['RS256', 'ES256', 'ES384', 'ES512'].find((name) => fits(name, key));
}

export function isSigned(name: string, key: KeyObject, text: string, signature: Uint8Array): boolean {
  if (!fits(name, key) || key.type !== 'public') return false;
  const algorithm = byName(name)!;
  return verify(algorithm.hash, Buffer.from(text), { key, ...formOf(algorithm) }, signature);
}

export const signatureOf = (name: string, key: KeyObject, text: string): Buffer => {
  const algorithm = byName(name)!;
  return sign(algorithm.hash, Buffer.from(text), { key, ...formOf(algorithm) });
};

function formOf({ type, isPss }: Algorithm): object {
  if (type === 'ec') return { dsaEncoding: 'ieee-p1363' };
  if (!isPss) return { padding: constants.RSA_PKCS1_PADDING };
  return { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
}
