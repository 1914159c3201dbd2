/** AuthorizationConfiguration: the authorizers of a server in order. Parsed strictly from a file. */

import { statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import {
  child,
  dnsSubdomainReasons,
  duplicate,
  fieldErrorText,
  forbidden,
  index,
  invalid,
  isObject,
  notSupported,
  parseDuration,
  required,
  tooMany,
} from '@hangar/api';
import type { FieldError, JsonObject } from '@hangar/api';
import { parseStrictly, unknownFields } from '../../../strict-configuration.ts';
import type { AuthorizationMode } from '../modes.ts';
import type { ReviewVersion } from '../webhook/review.ts';

export type AuthorizerConfiguration =
  | { readonly type: AuthorizationMode; readonly name: string }
  | { readonly type: 'Webhook'; readonly name: string; readonly webhook: WebhookConfiguration };

export interface WebhookConfiguration {
  readonly authorizedMs: number;
  readonly unauthorizedMs: number;
  readonly timeoutMs: number;
  readonly version: ReviewVersion;
  readonly failurePolicy: 'NoOpinion' | 'Deny';
  readonly kubeconfigFile: string;
  readonly matchConditions: readonly string[];
}

/** Describes an invalid configuration in one line. */
export class ConfigurationError extends Error {}

/** ABAC is not supported. */
const types = ['AlwaysAllow', 'AlwaysDeny', 'Node', 'RBAC', 'Webhook'];
const apiVersions = new Set(['v1', 'v1beta1', 'v1alpha1'].map((version) => `apiserver.config.k8s.io/${version}`));
const conditionsMax = 64;
const timeoutMaxMs = 30_000;

/** Throws a ConfigurationError. */
export function readConfiguration(bytes: Uint8Array): AuthorizerConfiguration[] {
  const value = parsed(bytes);
  if (!apiVersions.has(String(value['apiVersion'])) || value['kind'] !== 'AuthorizationConfiguration') {
    throw new ConfigurationError('must be an AuthorizationConfiguration of apiserver.config.k8s.io/v1');
  }
  const errors: FieldError[] = unknown('', value, ['kind', 'apiVersion', 'authorizers']);
  const authorizers = listOf(value['authorizers'], 'authorizers', errors);
  if (authorizers.length === 0) errors.push(required('authorizers', 'at least one authorization mode must be defined'));
  const seen = { types: new Set<string>(), names: new Set<string>() };
  const read = authorizers.map((one, at) => readAuthorizer(one, index('authorizers', at), seen, errors));
  if (errors.length > 0) throw new ConfigurationError(errors.map(fieldErrorText).join(', '));
  return read.map((one) => one!);
}

function parsed(bytes: Uint8Array): JsonObject {
  const value = parseStrictly(bytes, (reason) => new ConfigurationError(reason));
  if (!isObject(value)) throw new ConfigurationError('must be an object');
  return value;
}

interface Seen {
  readonly types: Set<string>;
  readonly names: Set<string>;
}

function readAuthorizer(
  value: JsonObject,
  path: string,
  seen: Seen,
  errors: FieldError[],
): AuthorizerConfiguration | undefined {
  errors.push(...unknown(path, value, ['type', 'name', 'webhook']));
  const type = textOf(value, 'type', path, errors);
  if (type === '') return void errors.push(required(child(path, 'type'), ''));
  if (!types.includes(type)) return void errors.push(notSupported(child(path, 'type'), type, types));
  if (seen.types.has(type) && type !== 'Webhook') return void errors.push(duplicate(child(path, 'type'), type));
  seen.types.add(type);
  const name = textOf(value, 'name', path, errors);
  errors.push(...nameErrors(name, child(path, 'name'), seen.names));
  const { webhook } = value;
  if (type !== 'Webhook') {
    if (webhook !== undefined && webhook !== null) {
      errors.push(invalid(child(path, 'webhook'), 'non-null', 'may only be specified when type=Webhook'));
    }
    return { type: type as AuthorizationMode, name };
  }
  if (!isObject(webhook)) return void errors.push(required(child(path, 'webhook'), 'required when type=Webhook'));
  // kube-apiserver omits `webhook` from the reported paths.
  return { type, name, webhook: readWebhook(webhook, path, errors) };
}

function nameErrors(name: string, path: string, seen: Set<string>): FieldError[] {
  if (name === '') return [required(path, '')];
  if (seen.has(name)) return [duplicate(path, name)];
  seen.add(name);
  const reasons = dnsSubdomainReasons(name);
  return reasons.length === 0 ? [] : [invalid(path, name, `authorizer name is invalid: ${reasons.join(', ')}`)];
}

const webhookFields = [
  'authorizedTTL',
  'cacheAuthorizedRequests',
  'unauthorizedTTL',
  'cacheUnauthorizedRequests',
  'timeout',
  'subjectAccessReviewVersion',
  'matchConditionSubjectAccessReviewVersion',
  'failurePolicy',
  'connectionInfo',
  'matchConditions',
];

function readWebhook(value: JsonObject, path: string, errors: FieldError[]): WebhookConfiguration {
  errors.push(...unknown(path, value, webhookFields));
  const matchConditions = readConditions(value, path, errors);
  const conditionVersion = textOf(value, 'matchConditionSubjectAccessReviewVersion', path, errors);
  const conditionPath = child(path, 'matchConditionSubjectAccessReviewVersion');
  if (conditionVersion === '' && matchConditions.length > 0) {
    errors.push(required(conditionPath, 'required if match conditions are specified'));
  } else if (conditionVersion !== '' && conditionVersion !== 'v1') {
    errors.push(notSupported(conditionPath, conditionVersion, ['v1']));
  }
  const timeoutMs = durationOf(value, 'timeout', path, errors) ?? 0;
  if (timeoutMs === 0) errors.push(required(child(path, 'timeout'), ''));
  else if (timeoutMs < 0 || timeoutMs > timeoutMaxMs) {
    errors.push(invalid(child(path, 'timeout'), String(value['timeout']), 'must be > 0s and <= 30s'));
  }
  return {
    authorizedMs: ttlOf(value, 'authorizedTTL', 'cacheAuthorizedRequests', 300_000, path, errors),
    unauthorizedMs: ttlOf(value, 'unauthorizedTTL', 'cacheUnauthorizedRequests', 30_000, path, errors),
    timeoutMs,
    version: oneOf(value, 'subjectAccessReviewVersion', ['v1', 'v1beta1'], path, errors),
    failurePolicy: oneOf(value, 'failurePolicy', ['NoOpinion', 'Deny'], path, errors),
    kubeconfigFile: readConnection(value, path, errors),
    matchConditions,
  };
}

function ttlOf(
  value: JsonObject,
  name: string,
  cache: string,
  defaultMs: number,
  path: string,
  errors: FieldError[],
): number {
  const given = durationOf(value, name, path, errors) || defaultMs;
  if (given < 0) errors.push(invalid(child(path, name), String(value[name]), 'must be > 0s'));
  return value[cache] === false ? 0 : given;
}

function readConnection(value: JsonObject, path: string, errors: FieldError[]): string {
  const info = isObject(value['connectionInfo']) ? value['connectionInfo'] : {};
  const at = child(path, 'connectionInfo');
  errors.push(...unknown(at, info, ['type', 'kubeConfigFile']));
  const type = textOf(info, 'type', at, errors);
  const file = textOf(info, 'kubeConfigFile', at, errors);
  const fileAt = child(at, 'kubeConfigFile');
  if (type === '') errors.push(required(child(at, 'type'), ''));
  // This server does not run as a pod in the cluster that it serves.
  else if (type !== 'KubeConfigFile') errors.push(notSupported(child(at, 'type'), type, ['KubeConfigFile']));
  else if (file === '') errors.push(required(fileAt, ''));
  else if (!isAbsolute(file)) errors.push(invalid(fileAt, file, 'must be an absolute path'));
  else if (!statSync(file, { throwIfNoEntry: false })?.isFile())
    errors.push(invalid(fileAt, file, 'must be a regular file'));
  return file;
}

function readConditions(value: JsonObject, path: string, errors: FieldError[]): string[] {
  const at = child(path, 'matchConditions');
  const conditions = listOf(value['matchConditions'], at, errors);
  if (conditions.length > conditionsMax) errors.push(tooMany(at, conditions.length, conditionsMax));
  const seen = new Set<string>();
  return conditions.slice(0, conditionsMax).flatMap((one, i) => {
    const here = child(index(at, i), 'expression');
    errors.push(...unknown(index(at, i), one, ['expression']));
    const expression = textOf(one, 'expression', index(at, i), errors);
    if (expression.trim() === '') errors.push(required(here, ''));
    else if (seen.has(expression)) errors.push(duplicate(here, expression));
    else seen.add(expression);
    return [expression];
  });
}

const unknown = (path: string, value: JsonObject, known: readonly string[]): FieldError[] =>
  unknownFields(path, value, known).map((at) => forbidden(at, 'unknown field'));

function textOf(value: JsonObject, name: string, path: string, errors: FieldError[]): string {
  const text = value[name] ?? '';
  if (typeof text === 'string') return text;
  errors.push(invalid(child(path, name), text, 'must be a string'));
  return '';
}

function listOf(value: unknown, path: string, errors: FieldError[]): JsonObject[] {
  const list = value ?? [];
  if (Array.isArray(list) && list.every((one) => isObject(one))) return list as JsonObject[];
  errors.push(invalid(path, list, 'must be a list of objects'));
  return [];
}

function durationOf(value: JsonObject, name: string, path: string, errors: FieldError[]): number | undefined {
  if (value[name] === undefined || value[name] === null) return undefined;
  try {
    return Number(parseDuration(String(value[name])) / 1_000_000n);
  } catch (error) {
    errors.push(invalid(child(path, name), value[name], (error as Error).message));
    return undefined;
  }
}

function oneOf<T extends string>(
  value: JsonObject,
  name: string,
  known: readonly T[],
  path: string,
  errors: FieldError[],
): T {
  const text = textOf(value, name, path, errors);
  if (text === '') errors.push(required(child(path, name), ''));
  else if (!known.includes(text as T)) errors.push(notSupported(child(path, name), text, known));
  return text as T;
}
