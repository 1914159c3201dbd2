/** Forged tokens. */

import { createPrivateKey, createPublicKey, hash, sign } from 'node:crypto';

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** The id of a key, as issuers compute it: the SHA-256 of the public key. */
export const keyIdOf = (pem: string): string =>
  Buffer.from(
    hash('sha256', createPublicKey(pem).export({ type: 'spki', format: 'der' }), 'base64'),
    'base64',
  ).toString('base64url');

/** With any key, header and claims. */
export function signed(pem: string, claims: object, header: object = {}): string {
  const body = `${encoded({ alg: 'ES256', kid: keyIdOf(pem), ...header })}.${encoded(claims)}`;
  const signature = sign('sha256', Buffer.from(body), { key: createPrivateKey(pem), dsaEncoding: 'ieee-p1363' });
  return `${body}.${signature.toString('base64url')}`;
}

export const claimsOf = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Record<string, unknown>;

/** The same header and signature over other claims. */
export function edited(token: string, change: object): string {
  const [header, , signature] = token.split('.');
  return [header, encoded({ ...claimsOf(token), ...change }), signature].join('.');
}

/** Without a signature at all. */
export const unsigned = (token: string): string => `${encoded({ alg: 'none' })}.${encoded(claimsOf(token))}.`;
