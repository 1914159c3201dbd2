/** Parses JSON Web Tokens in compact form. The result is untrusted until its signature is verified. */

import type { KeyObject } from 'node:crypto';
import { isObject } from '@hangar/api';
import type { JsonObject } from '@hangar/api';
import { algorithmOf, isSigned, signatureOf } from './algorithms.ts';

export interface Jwt {
  readonly algorithm: string;
  /** Empty: absent. */
  readonly keyId: string;
  readonly claims: JsonObject;
  /** The signed text. */
  readonly text: string;
  readonly signature: Uint8Array;
}

const compact = /^([\w-]+)\.([\w-]+)\.([\w-]*)$/;
const charactersMax = 64 * 1024;

/** Returns undefined if the token is not a JWT. */
export function parseJwt(token: string): Jwt | undefined {
  const match = token.length <= charactersMax ? compact.exec(token) : null;
  if (!match) return undefined;
  const [, head, body, signature] = match as unknown as [string, string, string, string];
  const header = json(head);
  const claims = json(body);
  if (!header || !claims || typeof header['alg'] !== 'string') return undefined;
  // Critical extensions (RFC 7515, section 4.1.11) are not supported.
  if (header['crit'] !== undefined) return undefined;
  const keyId = typeof header['kid'] === 'string' ? header['kid'] : '';
  return {
    algorithm: header['alg'],
    keyId,
    claims,
    text: `${head}.${body}`,
    signature: Buffer.from(signature, 'base64url'),
  };
}

function json(part: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export const isSignedBy = ({ algorithm, text, signature }: Jwt, key: KeyObject): boolean =>
  isSigned(algorithm, key, text, signature);

export interface SigningKey {
  readonly id: string;
  readonly key: KeyObject;
}

export function signJwt(claims: JsonObject, { id, key }: SigningKey): string {
  const algorithm = algorithmOf(key)!;
  const text = `${base64url({ alg: algorithm, kid: id })}.${base64url(claims)}`;
  return `${text}.${signatureOf(algorithm, key, text).toString('base64url')}`;
}

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Returns a claim that is a string or a list of strings, such as `aud`; undefined for other types. */
export function textsOf(claim: unknown): readonly string[] | undefined {
  if (claim === undefined || claim === null) return [];
  if (typeof claim === 'string') return [claim];
  return Array.isArray(claim) && claim.every((one) => typeof one === 'string') ? claim : undefined;
}

/** Returns seconds since 1970; undefined if the claim is absent. Throws if it is not a number. */
export function timeOf(claims: JsonObject, name: 'exp' | 'nbf' | 'iat'): number | undefined {
  const value = claims[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number') throw new TypeError(`${name} is not a valid time`);
  return value;
}
