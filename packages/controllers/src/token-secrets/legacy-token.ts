/**
 * Service account tokens in secrets: JSON Web Tokens with the claims from before TokenRequest. They never expire, and are valid as long as
 * the secret and the account exist.
 */

import { createPrivateKey, createPublicKey, hash, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { CodedError } from '@hangar/core';

export interface LegacyTokenOptions {
  readonly namespace: string;
  readonly secret: string;
  readonly account: { readonly name: string; readonly uid: string };
  /** Signing key, in PEM. */
  readonly key: string;
}

const own = 'kubernetes.io/serviceaccount/';

/** Deterministic with RSA; ECDSA uses a random number. */
export function legacyToken({ namespace, secret, account, key: pem }: LegacyTokenOptions): string {
  const key = createPrivateKey(pem);
  const { name: alg, digest } = algorithmOf(key);
  const kid = hash('sha256', createPublicKey(key).export({ type: 'spki', format: 'der' }), 'base64url');
  const claims = {
    iss: 'kubernetes/serviceaccount',
    [`${own}namespace`]: namespace,
    [`${own}secret.name`]: secret,
    [`${own}service-account.name`]: account.name,
    [`${own}service-account.uid`]: account.uid,
    sub: `system:serviceaccount:${namespace}:${account.name}`,
  };
  const text = `${encoded({ alg, kid })}.${encoded(claims)}`;
  const signature = sign(digest, Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' });
  return `${text}.${signature.toString('base64url')}`;
}

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

interface Algorithm {
  /** Name in RFC 7518. */
  readonly name: string;
  readonly digest: string;
}

const byCurve: Readonly<Record<string, Algorithm>> = {
  prime256v1: { name: 'ES256', digest: 'sha256' },
  secp384r1: { name: 'ES384', digest: 'sha384' },
  secp521r1: { name: 'ES512', digest: 'sha512' },
};

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): Algorithm {
  if (asymmetricKeyType === 'rsa') return { name: 'RS256', digest: 'sha256' };
  const known = byCurve[asymmetricKeyDetails?.namedCurve ?? ''];
  if (asymmetricKeyType === 'ec' && known) return known;
  throw new CodedError('UnsupportedKey', `tokens are not signed with keys of type ${asymmetricKeyType}`);
}
