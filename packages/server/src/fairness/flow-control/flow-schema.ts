/** FlowSchemas: match requests to flows and priority levels, like kube-apiserver. */

import type { KubeObject } from '@hangar/api';
import type { User } from '../../auth/user.ts';
import type { OtherRequest, RequestInfo, ResourceRequest } from '../../request/info.ts';

export interface FlowSchema {
  readonly name: string;
  readonly uid: string;
  readonly precedence: number;
  readonly level: string;
  /** Attribute that separates the flows of a schema; undefined: one flow. */
  readonly distinguisher: 'ByUser' | 'ByNamespace' | undefined;
  readonly rules: readonly Rule[];
}

interface Rule {
  readonly subjects: readonly Subject[];
  readonly resourceRules: readonly ResourceRule[];
  readonly urlRules: readonly UrlRule[];
  /** All requests of its subjects match: no further checks are needed. */
  readonly matchesAll: boolean;
}

type Subject =
  | { readonly kind: 'User'; readonly name: string }
  | { readonly kind: 'Group'; readonly name: string }
  | { readonly kind: 'ServiceAccount'; readonly namespace: string; readonly name: string };

interface ResourceRule {
  readonly verbs: readonly string[];
  readonly groups: readonly string[];
  readonly resources: readonly string[];
  readonly clusterScope: boolean;
  readonly namespaces: readonly string[];
}

interface UrlRule {
  readonly verbs: readonly string[];
  readonly urls: readonly string[];
}

// Objects are validated on write; missing fields match nothing.
interface SchemaObject extends KubeObject {
  spec: {
    matchingPrecedence: number;
    priorityLevelConfiguration: { name: string };
    distinguisherMethod?: { type: 'ByUser' | 'ByNamespace' };
    rules?: RuleObject[];
  };
}

interface RuleObject {
  subjects: {
    kind: string;
    user?: { name: string };
    group?: { name: string };
    serviceAccount?: { namespace: string; name: string };
  }[];
  resourceRules?: {
    verbs: string[];
    apiGroups: string[];
    resources: string[];
    clusterScope?: boolean;
    namespaces?: string[];
  }[];
  nonResourceRules?: { verbs: string[]; nonResourceURLs: string[] }[];
}

export function readFlowSchema(object: KubeObject): FlowSchema {
  const { metadata, spec } = object as SchemaObject;
  return {
    name: metadata.name!,
    uid: metadata['uid'] as string,
    precedence: spec.matchingPrecedence,
    level: spec.priorityLevelConfiguration.name,
    distinguisher: spec.distinguisherMethod?.type,
    rules: (spec.rules ?? []).map(readRule),
  };
}

function readRule({ subjects, resourceRules = [], nonResourceRules = [] }: RuleObject): Rule {
  const resources = resourceRules.map((rule) => ({
    verbs: rule.verbs,
    groups: rule.apiGroups,
    resources: rule.resources,
    clusterScope: rule.clusterScope ?? false,
    namespaces: rule.namespaces ?? [],
  }));
  const urls = nonResourceRules.map((rule) => ({ verbs: rule.verbs, urls: rule.nonResourceURLs }));
  const isAny = (list: readonly string[]): boolean => list.includes('*');
  return {
    subjects: subjects.flatMap(readSubject),
    resourceRules: resources,
    urlRules: urls,
    matchesAll:
      resources.some(
        (one) => one.clusterScope && [one.verbs, one.groups, one.resources, one.namespaces].every(isAny),
      ) && urls.some((one) => isAny(one.verbs) && isAny(one.urls)),
  };
}

function readSubject({ kind, user, group, serviceAccount }: RuleObject['subjects'][number]): Subject[] {
  if (kind === 'User' && user) return [{ kind, name: user.name }];
  if (kind === 'Group' && group) return [{ kind, name: group.name }];
  if (kind === 'ServiceAccount' && serviceAccount) return [{ kind, ...serviceAccount }];
  return [];
}

/** Sorts in the order of evaluation. */
export const byPrecedence = (a: FlowSchema, b: FlowSchema): number =>
  a.precedence - b.precedence || (a.name < b.name ? -1 : 1);

/** Returns the rules whose subjects include this user. */
export const rulesFor = ({ rules }: FlowSchema, user: User): readonly Rule[] =>
  rules.filter(({ subjects }) => subjects.some((subject) => isSubject(subject, user)));

function isSubject(subject: Subject, { name, groups }: User): boolean {
  if (subject.kind === 'User') return subject.name === '*' || subject.name === name;
  if (subject.kind === 'Group') return subject.name === '*' || groups.includes(subject.name);
  const inNamespace = `system:serviceaccount:${subject.namespace}:`;
  return subject.name === '*' ? name.startsWith(inNamespace) : name === `${inNamespace}${subject.name}`;
}

/** `rules`: the result of `rulesFor`. */
export function matches(rules: readonly Rule[], info: RequestInfo): boolean {
  for (const rule of rules) {
    if (rule.matchesAll || (info.isResource ? matchesAnyResource(rule, info) : matchesAnyPath(rule, info))) return true;
  }
  return false;
}

const matchesAnyResource = ({ resourceRules }: Rule, info: ResourceRequest): boolean =>
  resourceRules.some((rule) => matchesResource(rule, info));

const matchesAnyPath = ({ urlRules }: Rule, { verb, path }: OtherRequest): boolean =>
  urlRules.some(({ verbs, urls }) => has(verbs, verb) && matchesPath(urls, path));

const has = (list: readonly string[], value: string): boolean => list.includes(value) || list.includes('*');

function matchesResource(rule: ResourceRule, info: ResourceRequest): boolean {
  const { verb, group, resource, subresource, namespace } = info;
  const name = subresource === '' ? resource : `${resource}/${subresource}`;
  if (!has(rule.verbs, verb) || !has(rule.groups, group) || !has(rule.resources, name)) return false;
  return namespace === '' ? rule.clusterScope : has(rule.namespaces, namespace);
}

const matchesPath = (urls: readonly string[], path: string): boolean =>
  has(urls, path) || urls.some((url) => url.endsWith('/*') && path.startsWith(url.slice(0, -1)));

/** Returns the distinguisher of the flow; empty if the schema has only one flow. */
export function distinguished({ distinguisher }: FlowSchema, user: User, info: RequestInfo): string {
  if (distinguisher === 'ByUser') return user.name;
  return distinguisher === 'ByNamespace' && info.isResource ? info.namespace : '';
}
