/**
 * Signatures of `cluster-info`: the owner of a bootstrap token verifies with one of them that the author of the kubeconfig has the token,
 * too. A detached JSON Web Signature (RFC 7515, appendix F) with HMAC and the secret half of the token:
 *
 *     jws-kubeconfig-abcdef: <header>..<signature>
 */

import { createHmac } from 'node:crypto';
import type { ConfigMap } from '@hangar/client/kinds/core-v1';
import type { SigningToken } from './token.ts';

export const signaturePrefix = 'jws-kubeconfig-';
const contentKey = 'kubeconfig';

export function detachedSignature(content: string, { id, secret }: SigningToken): string {
  const header = encoded(JSON.stringify({ alg: 'HS256', kid: id }));
  const signature = createHmac('sha256', secret)
    .update(`${header}.${encoded(content)}`)
    .digest('base64url');
  return `${header}..${signature}`;
}

const encoded = (text: string): string => Buffer.from(text).toString('base64url');

/** Returns the data with exactly the signatures of these tokens; undefined: it is up to date, or there is nothing to sign. */
export function signedData(
  { data = {} }: Pick<ConfigMap, 'data'>,
  tokens: readonly SigningToken[],
): Record<string, string> | undefined {
  const content = data[contentKey];
  if (content === undefined) return undefined;
  const others = Object.entries(data).filter(([key]) => !key.startsWith(signaturePrefix));
  const signatures = tokens.map(
    (token) => [`${signaturePrefix}${token.id}`, detachedSignature(content, token)] as const,
  );
  const isSigned =
    others.length + signatures.length === Object.keys(data).length &&
    signatures.every(([key, signature]) => data[key] === signature);
  return isSigned ? undefined : Object.fromEntries([...others, ...signatures]);
}
