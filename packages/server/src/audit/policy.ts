/** Selects the requests to audit and their level: kube-apiserver's audit Policy. The first rule that matches a request decides. */

import type { User } from '../auth/user.ts';
import type { RequestInfo, ResourceRequest } from '../request/info.ts';
import { parseStrictly, unknownFields } from '../strict-configuration.ts';

export const levels = ['None', 'Metadata', 'Request', 'RequestResponse'] as const;
export type Level = (typeof levels)[number];

export const stages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const;
export type Stage = (typeof stages)[number];

export interface Verdict {
  readonly level: Level;
  readonly omitStages: ReadonlySet<Stage>;
  readonly omitManagedFields: boolean;
}

interface GroupResources {
  readonly group?: string;
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
}

interface Rule {
  readonly level: Level;
  readonly users?: readonly string[];
  readonly userGroups?: readonly string[];
  readonly verbs?: readonly string[];
  readonly resources?: readonly GroupResources[];
  readonly namespaces?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly omitStages?: readonly Stage[];
  readonly omitManagedFields?: boolean;
}

export class AuditPolicyError extends Error {}

const unaudited: Verdict = { level: 'None', omitStages: new Set(), omitManagedFields: false };

export class AuditPolicy {
  readonly #rules: readonly { readonly rule: Rule; readonly verdict: Verdict }[];

  private constructor(rules: readonly Rule[], omitStages: readonly Stage[], omitManagedFields: boolean) {
    this.#rules = rules.map((rule) => ({
      rule,
      verdict: {
        level: rule.level,
        omitStages: new Set([...omitStages, ...(rule.omitStages ?? [])]),
        omitManagedFields: rule.omitManagedFields ?? omitManagedFields,
      },
    }));
  }

  /** Parses YAML or JSON. Throws AuditPolicyError. */
  static read(text: string): AuditPolicy {
    const { apiVersion, kind, rules, omitStages, omitManagedFields } = fieldsAt(
      parseStrictly(text, (reason) => new AuditPolicyError(reason)),
      '',
      policyFields,
    );
    if (apiVersion !== 'audit.k8s.io/v1' || kind !== 'Policy') {
      throw new AuditPolicyError('must be a Policy of audit.k8s.io/v1');
    }
    if (!Array.isArray(rules) || rules.length === 0)
      throw new AuditPolicyError('rules: must have at least one element');
    const checked = rules.map((rule, place) => checkedRule(rule, `rules[${place}]`));
    return new AuditPolicy(checked, stagesAt(omitStages, 'omitStages'), flagAt(omitManagedFields, 'omitManagedFields'));
  }

  /** `user` is undefined if not authenticated. */
  verdict(user: User | undefined, info: RequestInfo): Verdict {
    return this.#rules.find(({ rule }) => matches(rule, user, info))?.verdict ?? unaudited;
  }
}

function matches(rule: Rule, user: User | undefined, info: RequestInfo): boolean {
  if (rule.users?.length && !(user && rule.users.includes(user.name))) return false;
  if (rule.userGroups?.length && !user?.groups.some((group) => rule.userGroups!.includes(group))) return false;
  if (rule.verbs?.length && !rule.verbs.includes(info.verb)) return false;
  if (rule.namespaces?.length || rule.resources?.length) return info.isResource && matchesResource(rule, info);
  if (rule.nonResourceURLs?.length) {
    return !info.isResource && rule.nonResourceURLs.some((pattern) => matchesPath(pattern, info.path));
  }
  return true;
}

function matchesResource({ namespaces, resources }: Rule, info: ResourceRequest): boolean {
  if (namespaces?.length && !namespaces.includes(info.namespace)) return false;
  return !resources?.length || resources.some((one) => matchesGroup(one, info));
}

function matchesGroup({ group = '', resources, resourceNames }: GroupResources, info: ResourceRequest): boolean {
  if (group !== info.group) return false;
  if (!resources?.length) return true;
  const { resource, subresource } = info;
  const whole = subresource === '' ? resource : `${resource}/${subresource}`;
  const isNamed = !resourceNames?.length || resourceNames.includes(info.name);
  if (!isNamed) return false;
  return resources.some(
    (one) =>
      one === whole ||
      (one === '*' && subresource === '') ||
      one === '*/*' ||
      (subresource !== '' && (one === `${resource}/*` || one === `*/${subresource}`)),
  );
}

const matchesPath = (pattern: string, path: string): boolean =>
  pattern === '*' ||
  (pattern.endsWith('*')
    ? path.startsWith(pattern.slice(0, -1))
    : path.replace(/\/+$/, '') === pattern.replace(/\/+$/, ''));

const policyFields = ['apiVersion', 'kind', 'metadata', 'rules', 'omitStages', 'omitManagedFields'];
const textFields = ['users', 'userGroups', 'verbs', 'namespaces', 'nonResourceURLs'];
const ruleFields = ['level', 'resources', 'omitStages', 'omitManagedFields', ...textFields];

function checkedRule(value: unknown, at: string): Rule {
  const rule = fieldsAt(value, at, ruleFields);
  const { level, resources, omitStages } = rule;
  if (!levels.includes(level as Level)) throw new AuditPolicyError(`${at}.level: must be one of ${levels.join(', ')}`);
  for (const name of textFields) textsAt(rule[name], `${at}.${name}`);
  flagAt(rule['omitManagedFields'], `${at}.omitManagedFields`);
  if (resources !== undefined && !Array.isArray(resources))
    throw new AuditPolicyError(`${at}.resources: must be a list`);
  for (const [place, one] of ((resources as unknown[]) ?? []).entries()) {
    const where = `${at}.resources[${place}]`;
    const group = fieldsAt(one, where, ['group', 'resources', 'resourceNames']);
    if (group['group'] !== undefined && typeof group['group'] !== 'string')
      throw new AuditPolicyError(`${where}.group: must be a string`);
    textsAt(group['resources'], `${where}.resources`);
    textsAt(group['resourceNames'], `${where}.resourceNames`);
  }
  if ((rule['nonResourceURLs'] as unknown[] | undefined)?.length && ((resources as unknown[])?.length ?? 0) > 0) {
    throw new AuditPolicyError(`${at}: resources and nonResourceURLs are mutually exclusive`);
  }
  stagesAt(omitStages, `${at}.omitStages`);
  return rule as unknown as Rule;
}

function stagesAt(value: unknown, at: string): Stage[] {
  const texts = textsAt(value, at);
  if (!texts.every((one) => stages.includes(one as Stage))) {
    throw new AuditPolicyError(`${at}: must be one of ${stages.join(', ')}`);
  }
  return texts as Stage[];
}

function textsAt(value: unknown, at: string): string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'string')) {
    throw new AuditPolicyError(`${at}: must be a list of strings`);
  }
  return value as string[];
}

function flagAt(value: unknown, at: string): boolean {
  const flag = value ?? false;
  if (typeof flag !== 'boolean') throw new AuditPolicyError(`${at}: must be true or false`);
  return flag;
}

/** Returns an object that has only known fields. */
function fieldsAt(value: unknown, at: string, known: readonly string[]): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new AuditPolicyError(`${at === '' ? 'it' : at}: must be an object`);
  }
  const [unknown] = unknownFields(at, value, known);
  if (unknown !== undefined) throw new AuditPolicyError(`${unknown}: unknown field`);
  return value as Record<string, unknown>;
}
