/** The claims of a bound token: subject, audiences, expiry, and bound object. */

import { isObject, unauthorized } from '@hangar/api';
import type { JsonObject } from '@hangar/api';
import { timeOf } from '../jwt/jwt.ts';
import type { AccountClaims, Reference } from './names.ts';
import { usernameOf } from './names.ts';

/** Tolerance for clock skew in both directions. */
export const leewaySeconds = 60;

export interface BoundClaims extends AccountClaims {
  readonly secret?: Reference;
}

export interface IssuedClaims extends BoundClaims {
  readonly issuer: string;
  readonly audiences: readonly string[];
  /** Seconds since 1970. */
  readonly now: number;
  readonly expiresAt: number;
  /** Time after which its use is recorded, for tokens with extended expiry. */
  readonly warnAfter?: number;
}

/** Keys in alphabetical order, as in kube-apiserver. */
export function claimsOf({ issuer, audiences, now, expiresAt, warnAfter, ...bound }: IssuedClaims): JsonObject {
  const { namespace, name, uid, id, node, pod, secret } = bound;
  return {
    aud: audiences,
    exp: expiresAt,
    iat: now,
    iss: issuer,
    jti: id,
    'kubernetes.io': {
      namespace,
      ...(node ? { node: referenceOf(node) } : {}),
      ...(pod ? { pod: referenceOf(pod) } : {}),
      ...(secret ? { secret: referenceOf(secret) } : {}),
      serviceaccount: { name, uid },
      ...(warnAfter === undefined ? {} : { warnafter: warnAfter }),
    },
    nbf: now,
    sub: usernameOf({ namespace, name }),
  };
}

const referenceOf = ({ name, uid }: Reference): JsonObject => (uid === '' ? { name } : { name, uid });

/** Parses the claims of a verified token. Throws if they are malformed. */
export function boundClaims(claims: JsonObject): BoundClaims {
  const own = claims['kubernetes.io'];
  const { namespace } = isObject(own) ? own : {};
  const account = isObject(own) ? reference(own['serviceaccount']) : undefined;
  if (!isObject(own) || typeof namespace !== 'string' || !account?.uid) {
    throw unauthorized('service account token claims could not be validated');
  }
  const [pod, node, secret] = ['pod', 'node', 'secret'].map((name) => reference(own[name]));
  const id = claims['jti'];
  return {
    namespace,
    ...account,
    ...(pod ? { pod } : {}),
    ...(node ? { node } : {}),
    ...(secret ? { secret } : {}),
    ...(typeof id === 'string' ? { id } : {}),
  };
}

function reference(claim: unknown): Reference | undefined {
  if (claim === undefined || claim === null) return undefined;
  const { name, uid = '' } = isObject(claim) ? claim : {};
  if (typeof name !== 'string' || typeof uid !== 'string') {
    throw unauthorized('service account token claims could not be validated');
  }
  return { name, uid };
}

/** Returns the expiry time in milliseconds. Throws if the token is not valid now or has no expiry. */
export function checkTimes(claims: JsonObject, nowMs: number): number {
  const [notBefore, expiry, issued] = (['nbf', 'exp', 'iat'] as const).map((name) => secondsOf(claims, name));
  const now = nowMs / 1_000;
  if (notBefore !== undefined && now + leewaySeconds < notBefore) {
    throw unauthorized('service account token is not valid yet');
  }
  if (expiry === undefined || now - leewaySeconds > expiry) throw unauthorized('service account token has expired');
  if (issued !== undefined && now + leewaySeconds < issued) {
    throw unauthorized('service account token is issued in the future');
  }
  return (expiry + leewaySeconds) * 1_000;
}

function secondsOf(claims: JsonObject, name: 'nbf' | 'exp' | 'iat'): number | undefined {
  try {
    return timeOf(claims, name);
  } catch {
    throw unauthorized('service account token claims could not be validated');
  }
}
