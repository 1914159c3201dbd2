/**
 * Parses the AuthenticationConfiguration of kube-apiserver: the accepted issuers, and the mapping of claims to users. All errors are found
 * here, before the first token is verified.
 */

import { isObject } from '@hangar/api';
import type { JsonObject } from '@hangar/api';
import { parseStrictly, unknownFields } from '../../strict-configuration.ts';
import type { AnonymousOptions } from '../anonymous.ts';
import { claimExpression, userExpression } from './expressions.ts';
import type { Expression } from './expressions.ts';

export interface AuthenticationConfiguration {
  readonly issuers: readonly IssuerConfiguration[];
  /** Absent: the default without a configuration. */
  readonly anonymous: AnonymousOptions | undefined;
}

export interface IssuerConfiguration {
  readonly url: string;
  /** URL of the discovery document; absent: below the URL of the issuer. */
  readonly discoveryUrl: string | undefined;
  /** PEM; absent: the CAs that the system trusts. */
  readonly ca: string | undefined;
  readonly audiences: readonly string[];
  readonly requiredClaims: readonly { readonly claim: string; readonly value: string }[];
  readonly claimRules: readonly Rule[];
  readonly username: Mapping;
  readonly groups: Mapping | undefined;
  readonly uid: Mapping | undefined;
  readonly extra: readonly { readonly key: string; readonly expression: Expression }[];
  readonly userRules: readonly Rule[];
}

export type Mapping = { readonly claim: string; readonly prefix: string } | { readonly expression: Expression };

export interface Rule {
  readonly expression: Expression;
  readonly message: string;
}

/** Describes an invalid configuration. */
export class AuthenticationConfigurationError extends Error {
  /** Path of the invalid field; empty: the document itself. */
  readonly field: string;
  readonly rule: string;

  constructor(field: string, rule: string) {
    super(field === '' ? rule : `${field}: ${rule}`);
    this.field = field;
    this.rule = rule;
  }
}

const versions = new Set(['v1', 'v1beta1', 'v1alpha1'].map((version) => `apiserver.config.k8s.io/${version}`));
const issuersMax = 64;
const extraKey = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?\/[a-z0-9._~!$&'()*+,;=:@/-]+$/;

/** `taken`: issuers of the tokens of this server, which are reserved. Throws AuthenticationConfigurationError. */
export function readAuthenticationConfiguration(text: string, taken: readonly string[]): AuthenticationConfiguration {
  const { apiVersion, kind, jwt, anonymous } = fieldsAt(
    parseStrictly(text, (reason) => fault('', reason)),
    '',
    ['apiVersion', 'kind', 'jwt', 'anonymous'],
  );
  if (!versions.has(String(apiVersion)) || kind !== 'AuthenticationConfiguration') {
    throw fault('', 'must be an AuthenticationConfiguration of apiserver.config.k8s.io/v1');
  }
  const issuers = readIssuers(jwt, { at: 'jwt', issuersMax, isTaken: (url) => taken.includes(url) });
  return { issuers, anonymous: anonymous === undefined ? undefined : anonymousAt(anonymous) };
}

export interface IssuerRules {
  /** Path of the field with the list, for errors. */
  readonly at: string;
  readonly issuersMax: number;
  /** Reports whether the URL is an issuer of tokens of the server itself. */
  readonly isTaken: (url: string) => boolean;
}

/** Parses the field `jwt` of an AuthenticationConfiguration. Throws AuthenticationConfigurationError. */
export function readIssuers(jwt: unknown, { at, issuersMax: max, isTaken }: IssuerRules): IssuerConfiguration[] {
  const all = listAt(jwt, at);
  if (all.length > max) throw fault(at, `must have at most ${max} elements`);
  const issuers = all.map((one, place) => issuerAt(one, `${at}[${place}]`));
  for (const [place, { url }] of issuers.entries()) {
    const isTwice = issuers.findIndex((one) => one.url === url) < place;
    if (isTwice) throw fault(`${at}[${place}].issuer.url`, `${url} is a duplicate`);
    if (isTaken(url)) throw fault(`${at}[${place}].issuer.url`, `${url} is the issuer of this server's own tokens`);
  }
  return issuers;
}

/** Lacks `egressSelectorType` of kube-apiserver: there is only one egress path here. */
const issuerFields = ['url', 'discoveryURL', 'certificateAuthority', 'audiences', 'audienceMatchPolicy'];
const jwtFields = ['issuer', 'claimValidationRules', 'claimMappings', 'userValidationRules'];

function issuerAt(value: unknown, at: string): IssuerConfiguration {
  const jwt = fieldsAt(value, at, jwtFields);
  const issuer = fieldsAt(jwt['issuer'], `${at}.issuer`, issuerFields);
  const mappings = fieldsAt(jwt['claimMappings'], `${at}.claimMappings`, ['username', 'groups', 'uid', 'extra']);
  const rules = listAt(jwt['claimValidationRules'], `${at}.claimValidationRules`).map((one, place) =>
    claimRuleAt(one, `${at}.claimValidationRules[${place}]`),
  );
  const username = mappingAt(mappings['username'], `${at}.claimMappings.username`, true);
  if (!username) throw fault(`${at}.claimMappings.username`, 'claim or expression is required');
  const read: IssuerConfiguration = {
    url: urlAt(issuer['url'], `${at}.issuer.url`),
    discoveryUrl:
      issuer['discoveryURL'] === undefined ? undefined : urlAt(issuer['discoveryURL'], `${at}.issuer.discoveryURL`),
    ca: optionalAt(issuer['certificateAuthority'], `${at}.issuer.certificateAuthority`) || undefined,
    audiences: audiencesAt(issuer, `${at}.issuer`),
    requiredClaims: rules.filter((rule) => 'claim' in rule),
    claimRules: rules.filter((rule) => 'expression' in rule),
    username,
    groups: mappingAt(mappings['groups'], `${at}.claimMappings.groups`, true),
    uid: mappingAt(mappings['uid'], `${at}.claimMappings.uid`, false),
    extra: extraAt(mappings['extra'], `${at}.claimMappings.extra`),
    userRules: listAt(jwt['userValidationRules'], `${at}.userValidationRules`).map((rule, place) => {
      const where = `${at}.userValidationRules[${place}]`;
      return ruleAt(fieldsAt(rule, where, ['expression', 'message']), where, userExpression);
    }),
  };
  if (read.discoveryUrl === read.url) throw fault(`${at}.issuer.discoveryURL`, 'must differ from the url');
  checkEmail(read, `${at}.claimMappings`);
  return read;
}

function claimRuleAt(value: unknown, at: string): IssuerConfiguration['requiredClaims'][number] | Rule {
  const rule = fieldsAt(value, at, ['claim', 'requiredValue', 'expression', 'message']);
  const claim = optionalAt(rule['claim'], `${at}.claim`);
  const required = optionalAt(rule['requiredValue'], `${at}.requiredValue`);
  const expression = optionalAt(rule['expression'], `${at}.expression`);
  if ((claim === '') === (expression === '')) throw fault(at, 'either claim or expression is required');
  if (expression !== '') {
    if (required !== '') throw fault(`${at}.requiredValue`, 'must not be set when expression is set');
    return ruleAt(rule, at, claimExpression);
  }
  if (optionalAt(rule['message'], `${at}.message`) !== '')
    throw fault(`${at}.message`, 'must not be set when claim is set');
  return { claim, value: required };
}

/** An expression that maps `claims.email` requires a check of `claims.email_verified` in some expression: there is no implicit check. */
function checkEmail({ username, extra, claimRules }: IssuerConfiguration, at: string): void {
  if (!('expression' in username) || !/\bclaims\.email\b/.test(username.expression.text)) return;
  const others = [
    username.expression,
    ...extra.map(({ expression }) => expression),
    ...claimRules.map((rule) => rule.expression),
  ];
  if (others.some(({ text }) => /\bclaims\.\??email_verified\b/.test(text))) return;
  throw fault(`${at}.username.expression`, 'claims.email_verified must be used in an expression when claims.email is');
}

function audiencesAt(issuer: JsonObject, at: string): string[] {
  const audiences = listAt(issuer['audiences'], `${at}.audiences`).map((one, place) =>
    textAt(one, `${at}.audiences[${place}]`),
  );
  if (audiences.length === 0) throw fault(`${at}.audiences`, 'at least one is required');
  const policy = issuer['audienceMatchPolicy'];
  if (policy !== undefined && policy !== '' && policy !== 'MatchAny') {
    throw fault(`${at}.audienceMatchPolicy`, 'must be MatchAny');
  }
  if (audiences.length > 1 && policy !== 'MatchAny') {
    throw fault(`${at}.audienceMatchPolicy`, 'must be MatchAny with more than one audience');
  }
  return audiences;
}

function mappingAt(value: unknown, at: string, hasPrefix: boolean): Mapping | undefined {
  if (value === undefined || value === null) return undefined;
  const mapping = fieldsAt(value, at, ['claim', 'expression', ...(hasPrefix ? ['prefix'] : [])]);
  const claim = optionalAt(mapping['claim'], `${at}.claim`);
  const expression = optionalAt(mapping['expression'], `${at}.expression`);
  const prefix = mapping['prefix'] ?? undefined;
  if (claim !== '' && expression !== '') throw fault(at, 'claim and expression are mutually exclusive');
  if (expression !== '') {
    if (prefix !== undefined) throw fault(`${at}.prefix`, 'must not be set when expression is set');
    return { expression: compiled(claimExpression, expression, `${at}.expression`, ['string', 'list', 'null']) };
  }
  if (claim === '') {
    if (prefix !== undefined) throw fault(`${at}.claim`, 'is required when prefix is set');
    return undefined;
  }
  if (hasPrefix && typeof prefix !== 'string')
    throw fault(`${at}.prefix`, 'is required when claim is set; it may be empty');
  return { claim, prefix: hasPrefix ? (prefix as string) : '' };
}

function extraAt(value: unknown, at: string): { key: string; expression: Expression }[] {
  const all = listAt(value, at).map((one, place) => {
    const where = `${at}[${place}]`;
    const { key, valueExpression } = fieldsAt(one, where, ['key', 'valueExpression']);
    const name = textAt(key, `${where}.key`);
    if (!extraKey.test(name)) throw fault(`${where}.key`, 'must be a domain in lower case, a slash and a path');
    if (/(^|\.)(kubernetes|k8s)\.io$/.test(name.split('/')[0]!))
      throw fault(`${where}.key`, 'kubernetes.io and k8s.io are reserved');
    const text = textAt(valueExpression, `${where}.valueExpression`);
    return {
      key: name,
      expression: compiled(claimExpression, text, `${where}.valueExpression`, ['string', 'list', 'null']),
    };
  });
  for (const [place, { key }] of all.entries()) {
    if (all.findIndex((one) => one.key === key) < place) throw fault(`${at}[${place}].key`, `${key} is a duplicate`);
  }
  return all;
}

function ruleAt(rule: JsonObject, at: string, compile: typeof claimExpression): Rule {
  const expression = compiled(compile, textAt(rule['expression'], `${at}.expression`), `${at}.expression`, ['bool']);
  return { expression, message: optionalAt(rule['message'], `${at}.message`) };
}

function compiled(compile: typeof claimExpression, text: string, at: string, kinds: readonly string[]): Expression {
  try {
    return compile(text, kinds);
  } catch (error) {
    throw fault(at, (error as Error).message);
  }
}

function anonymousAt(value: unknown): AnonymousOptions {
  const { enabled, conditions } = fieldsAt(value, 'anonymous', ['enabled', 'conditions']);
  if (typeof enabled !== 'boolean') throw fault('anonymous.enabled', 'must be true or false');
  const paths = listAt(conditions, 'anonymous.conditions').map((one, place) => {
    const at = `anonymous.conditions[${place}]`;
    return { path: textAt(fieldsAt(one, at, ['path'])['path'], `${at}.path`) };
  });
  if (!enabled && paths.length > 0) throw fault('anonymous.conditions', 'must not be set when enabled is false');
  return { enabled, conditions: paths };
}

function urlAt(value: unknown, at: string): string {
  const text = textAt(value, at);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (
    url?.protocol !== 'https:' ||
    url.username !== '' ||
    url.password !== '' ||
    url.search !== '' ||
    url.hash !== ''
  ) {
    throw fault(at, 'must be an https URL without user, query and fragment');
  }
  return text;
}

/** Returns the object. Throws if it has other fields. */
function fieldsAt(value: unknown, at: string, known: readonly string[]): JsonObject {
  if (!isObject(value)) throw fault(at, 'must be an object');
  const [unknown] = unknownFields(at, value, known);
  if (unknown !== undefined) throw fault(unknown, 'unknown field');
  return value;
}

function textAt(value: unknown, at: string): string {
  if (typeof value !== 'string' || value === '') throw fault(at, 'must be a string');
  return value;
}

/** Returns an empty string if absent. */
function optionalAt(value: unknown, at: string): string {
  const text = value ?? '';
  if (typeof text !== 'string') throw fault(at, 'must be a string');
  return text;
}

function listAt(value: unknown, at: string): unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw fault(at, 'must be a list');
  return value;
}

const fault = (at: string, rule: string): AuthenticationConfigurationError =>
  new AuthenticationConfigurationError(at, rule);
