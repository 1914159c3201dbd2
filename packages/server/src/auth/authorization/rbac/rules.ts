/** Rules of roles: what each allows. All matching is by exact text, with `*` only where Kubernetes has it. */

import type { KubeObject } from '@hangar/api';
import type { PolicyRule } from '@hangar/api/rbac';
import type { RequestInfo, ResourceRequest } from '../../../request/info.ts';

export type { PolicyRule };

export const rulesOf = (role: KubeObject): readonly PolicyRule[] => (role['rules'] ?? []) as readonly PolicyRule[];

export const ruleAllows = (rule: PolicyRule, info: RequestInfo): boolean =>
  info.isResource ? allowsKind(rule, info) && allowsName(rule, info.name) : allowsPath(rule, info.verb, info.path);

/** Whatever the object's name is. */
export function allowsKind({ verbs, apiGroups, resources }: PolicyRule, info: ResourceRequest): boolean {
  return hasOrAll(verbs, info.verb) && hasOrAll(apiGroups, info.group) && hasResource(resources, info);
}

/** A rule for certain names says nothing about requests without one: creations, and lists of everything. */
export const allowsName = ({ resourceNames }: PolicyRule, name: string): boolean =>
  !resourceNames?.length || resourceNames.includes(name);

function allowsPath({ verbs, nonResourceURLs }: PolicyRule, verb: string, path: string): boolean {
  return hasOrAll(verbs, verb) && (nonResourceURLs ?? []).some((pattern) => coversPath(pattern, path));
}

/** `/healthz/*` is everything that begins with `/healthz/`; a star elsewhere is itself. */
export const coversPath = (pattern: string, path: string): boolean =>
  pattern === path || (pattern.endsWith('*') && path.startsWith(withoutStars(pattern)));

/** Returns the prefix of all paths that a pattern covers. Undefined: it covers only the path that equals it. */
export const prefixOf = (pattern: string): string | undefined =>
  pattern.endsWith('*') ? withoutStars(pattern) : undefined;

/** A loop: a pattern of a million stars must not cost a million steps back for each of them. */
function withoutStars(pattern: string): string {
  let end = pattern.length;
  while (end > 0 && pattern[end - 1] === '*') end--;
  return pattern.slice(0, end);
}

/** Lists that others stored may be null. */
const hasOrAll = (list: readonly string[] | null | undefined, one: string): boolean =>
  !!list && (list.includes('*') || list.includes(one));

/** `pods`, `pods/log`, `*` for all of both; a star before a slash is the subresource of everything, one behind it is itself. */
function hasResource(resources: readonly string[] | undefined, { resource, subresource }: ResourceRequest): boolean {
  if (!resources) return false;
  if (subresource === '') return resources.includes('*') || resources.includes(resource);
  return (
    resources.includes('*') ||
    resources.includes(`${resource}/${subresource}`) ||
    resources.includes(`*/${subresource}`)
  );
}
