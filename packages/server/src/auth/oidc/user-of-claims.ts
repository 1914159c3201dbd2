/** Maps verified claims to a user. Error messages match kube-apiserver. */

import type { JsonObject } from '@hangar/api';
import { credentialId } from '../user.ts';
import type { User } from '../user.ts';
import type { IssuerConfiguration, Mapping, Rule } from './configuration.ts';

/** Throws an Error if the claims do not map to a user or violate a rule. */
export function userOfClaims(issuer: IssuerConfiguration, claims: JsonObject): User {
  const user: User = {
    name: usernameOf(issuer.username, claims),
    groups: issuer.groups ? groupsOf(issuer.groups, claims) : [],
    uid: issuer.uid ? uidOf(issuer.uid, claims) : '',
    extra: extraOf(issuer, claims),
  };
  for (const { claim, value } of issuer.requiredClaims) checkRequired(claims, claim, value);
  checkRules(issuer.claimRules, claims, 'error evaluating claim validation expression');
  const { name: username, uid, groups, extra } = user;
  checkRules(issuer.userRules, { username, uid, groups, extra }, 'error evaluating user info validation rule');
  return user;
}

function usernameOf(mapping: Mapping, claims: JsonObject): string {
  if ('expression' in mapping) {
    const name = evaluated(mapping, claims, 'username claim');
    if (typeof name !== 'string')
      throw new Error(
        'oidc: error evaluating username claim expression: username claim expression must return a string',
      );
    if (name === '') throw new Error('oidc: empty username via CEL expression is not allowed');
    return name;
  }
  const name = claimAt(claims, mapping.claim);
  if (typeof name !== 'string')
    throw new Error(`oidc: parse username claims "${mapping.claim}": claim not present or no text`);
  // An unverified email address must not become a user name.
  if (mapping.claim === 'email' && Object.hasOwn(claims, 'email_verified') && claims['email_verified'] !== true) {
    throw new Error('oidc: email not verified');
  }
  return `${mapping.prefix}${name}`;
}

function groupsOf(mapping: Mapping, claims: JsonObject): string[] {
  if ('expression' in mapping) return textsIn(evaluated(mapping, claims, 'group claim'), 'group claim');
  const value = claimAt(claims, mapping.claim);
  if (value === undefined) return [];
  const groups = typeof value === 'string' ? [value] : value;
  if (!Array.isArray(groups) || !groups.every((one) => typeof one === 'string')) {
    throw new Error(`oidc: parse groups claim "${mapping.claim}": neither a text nor a list of texts`);
  }
  return groups.map((group) => `${mapping.prefix}${group}`);
}

function uidOf(mapping: Mapping, claims: JsonObject): string {
  const value = 'expression' in mapping ? evaluated(mapping, claims, 'uid claim') : claimAt(claims, mapping.claim);
  if (typeof value !== 'string') throw new Error('oidc: error evaluating uid claim: it must be a text');
  return value;
}

function extraOf({ extra }: IssuerConfiguration, claims: JsonObject): Record<string, string[]> {
  const { jti } = claims;
  const result: Record<string, string[]> = {};
  if (typeof jti === 'string' && jti !== '') result[credentialId] = [`JTI=${jti}`];
  for (const { key, expression } of extra) {
    const values = textsIn(evaluated({ expression }, claims, 'extra claim'), 'extra claim');
    if (values.length > 0) result[key] = values;
  }
  return result;
}

function evaluated(
  { expression }: Extract<Mapping, { expression: unknown }>,
  claims: JsonObject,
  what: string,
): unknown {
  try {
    return expression.evaluate(claims);
  } catch (error) {
    throw new Error(`oidc: error evaluating ${what} expression: ${(error as Error).message}`, { cause: error });
  }
}

function textsIn(value: unknown, what: string): string[] {
  const all = value === null ? [] : typeof value === 'string' ? [value] : value;
  if (!Array.isArray(all) || !all.every((one) => typeof one === 'string')) {
    throw new Error(`oidc: error evaluating ${what} expression: expression must return a string or a list of strings`);
  }
  return all.filter((one) => one !== '');
}

function checkRequired(claims: JsonObject, claim: string, wanted: string): void {
  const value = claimAt(claims, claim);
  if (value === undefined) throw new Error(`oidc: required claim ${claim} not present in ID token`);
  if (value === wanted) return;
  throw new Error(`oidc: required claim ${claim} value does not match. Got = ${String(value)}, want = ${wanted}`);
}

function checkRules(rules: readonly Rule[], value: object, what: string): void {
  for (const { expression, message } of rules) {
    let result: unknown;
    try {
      result = expression.evaluate(value);
    } catch (error) {
      throw new Error(`oidc: ${what}: ${(error as Error).message}`, { cause: error });
    }
    if (result === true) continue;
    throw new Error(`oidc: ${what}: validation expression '${expression.text}' failed: ${message}`);
  }
}

const claimAt = (claims: JsonObject, name: string): unknown => (Object.hasOwn(claims, name) ? claims[name] : undefined);
