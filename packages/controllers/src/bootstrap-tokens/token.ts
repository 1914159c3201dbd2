/** Decodes secrets of bootstrap tokens by the rules of Kubernetes. */

import type { Secret } from '@hangar/client/kinds/core-v1';

export const bootstrapTokenType = 'bootstrap.kubernetes.io/token';
/** Ignored in other namespaces. */
export const tokenNamespace = 'kube-system';
/** Prefix of the names of such secrets. */
export const tokenPrefix = 'bootstrap-token-';

export interface SigningToken {
  readonly id: string;
  readonly secret: string;
}

/** Returns undefined if the token is not used for signing. */
export function signingToken(secret: Secret, nowMs: number): SigningToken | undefined {
  const id = /^bootstrap-token-([a-z0-9]{6})$/.exec(secret.metadata.name ?? '')?.[1];
  const isUsable =
    secret.type === bootstrapTokenType &&
    id !== undefined &&
    dataOf(secret, 'token-id') === id &&
    dataOf(secret, 'token-secret') !== '' &&
    dataOf(secret, 'usage-bootstrap-signing') === 'true' &&
    expiresInMs(secret, nowMs) > 0;
  return isUsable ? { id, secret: dataOf(secret, 'token-secret') } : undefined;
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** Returns Infinity without an expiration. As in Kubernetes, a malformed time counts as expired: 0. */
export function expiresInMs(secret: Secret, nowMs: number): number {
  const text = dataOf(secret, 'expiration');
  if (text === '') return Infinity;
  const expiresMs = rfc3339.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(expiresMs) ? 0 : Math.max(expiresMs - nowMs, 0);
}

const dataOf = ({ data = {} }: Secret, key: string): string => Buffer.from(data[key] ?? '', 'base64').toString();
