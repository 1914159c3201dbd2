/** What is audited, and how closely: kube-apiserver's audit Policy. The first rule that matches a request decides. */

import { parseYaml } from '@hangar/api';
import type { User } from '../auth/user.ts';
import type { RequestInfo, ResourceRequest } from '../request/info.ts';

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

  /** From YAML or JSON. Throws AuditPolicyError. */
  static read(text: string): AuditPolicy {
    const { apiVersion, kind, rules, omitStages, omitManagedFields } = parsed(text);
    if (apiVersion !== 'audit.k8s.io/v1' || kind !== 'Policy') {
      throw new AuditPolicyError('must be a Policy of audit.k8s.io/v1');
    }
    if (!Array.isArray(rules) || rules.length === 0)
      throw new AuditPolicyError('rules: must have at least one element');
    const checked = rules.map((rule, place) => checkedRule(rule, `rules[${place}]`));
    return new AuditPolicy(checked, stagesAt(omitStages, 'omitStages'), omitManagedFields === true);
  }

  /** `user` is undefined when nobody knows it. */
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

function checkedRule(value: unknown, at: string): Rule {
  const rule = objectAt(value, at);
  const { level, resources, omitStages } = rule;
  if (!levels.includes(level as Level)) throw new AuditPolicyError(`${at}.level: must be one of ${levels.join(', ')}`);
  for (const name of ['users', 'userGroups', 'verbs', 'namespaces', 'nonResourceURLs']) {
    textsAt(rule[name], `${at}.${name}`);
  }
  if (resources !== undefined && !Array.isArray(resources))
    throw new AuditPolicyError(`${at}.resources: must be a list`);
  for (const [place, one] of ((resources as unknown[]) ?? []).entries()) {
    const group = objectAt(one, `${at}.resources[${place}]`);
    textsAt(group['resources'], `${at}.resources[${place}].resources`);
    textsAt(group['resourceNames'], `${at}.resources[${place}].resourceNames`);
  }
  if ((rule['nonResourceURLs'] as unknown[] | undefined)?.length && ((resources as unknown[])?.length ?? 0) > 0) {
    throw new AuditPolicyError(`${at}: resources and nonResourceURLs exclude each other`);
  }
  stagesAt(omitStages, `${at}.omitStages`);
  return rule as unknown as Rule;
}

function stagesAt(value: unknown, at: string): Stage[] {
  const texts = textsAt(value, at);
  if (!texts.every((one) => stages.includes(one as Stage))) {
    throw new AuditPolicyError(`${at}: must be of ${stages.join(', ')}`);
  }
  return texts as Stage[];
}

function textsAt(value: unknown, at: string): string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'string')) {
    throw new AuditPolicyError(`${at}: must be a list of texts`);
  }
  return value as string[];
}

function objectAt(value: unknown, at: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new AuditPolicyError(`${at === '' ? 'it' : at}: must be an object`);
  }
  return value as Record<string, unknown>;
}

function parsed(text: string): Record<string, unknown> {
  try {
    return objectAt(parseYaml(text).value, '');
  } catch (error) {
    throw error instanceof AuditPolicyError ? error : new AuditPolicyError((error as Error).message);
  }
}
