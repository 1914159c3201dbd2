/** Matches requests against the rules of roles. Matching is exact; `*` counts only where Kubernetes allows it. */

import type { KubeObject } from '@hangar/api';
import type { PolicyRule } from '@hangar/api/rbac';
import type { RequestInfo, ResourceRequest } from '../../../request/info.ts';

export type { PolicyRule };

export const rulesOf = (role: KubeObject): readonly PolicyRule[] => (role['rules'] ?? []) as readonly PolicyRule[];

export const ruleAllows = (rule: PolicyRule, info: RequestInfo): boolean =>
  info.isResource ? allowsKind(rule, info) && allowsName(rule, info.name) : allowsPath(rule, info.verb, info.path);

/** Matches everything except the name of the object. */
export function allowsKind({ verbs, apiGroups, resources }: PolicyRule, info: ResourceRequest): boolean {
  return hasOrAll(verbs, info.verb) && hasOrAll(apiGroups, info.group) && hasResource(resources, info);
}

/** A rule with names does not match requests without one: creations, and lists of all objects. */
export const allowsName = ({ resourceNames }: PolicyRule, name: string): boolean =>
  !resourceNames?.length || resourceNames.includes(name);

function allowsPath({ verbs, nonResourceURLs }: PolicyRule, verb: string, path: string): boolean {
  return hasOrAll(verbs, verb) && (nonResourceURLs ?? []).some((pattern) => coversPath(pattern, path));
}

/** `/healthz/*` matches every path that starts with `/healthz/`; a star elsewhere is literal. */
export const coversPath = (pattern: string, path: string): boolean =>
  pattern === path || (pattern.endsWith('*') && path.startsWith(withoutStars(pattern)));

/** Returns the prefix of all paths that a pattern covers; undefined if it covers only the path that equals it. */
export const prefixOf = (pattern: string): string | undefined =>
  pattern.endsWith('*') ? withoutStars(pattern) : undefined;

/** A loop, because a regular expression could backtrack for each of a million stars. */
function withoutStars(pattern: string): string {
  let end = pattern.length;
  while (end > 0 && pattern[end - 1] === '*') end--;
  return pattern.slice(0, end);
}

/** Lists stored by other servers may be null. */
const hasOrAll = (list: readonly string[] | null | undefined, one: string): boolean =>
  !!list && (list.includes('*') || list.includes(one));

/** `pods`, `pods/log`, `*` for both; a star before the slash stands for any resource, a star after it is literal. */
function hasResource(resources: readonly string[] | undefined, { resource, subresource }: ResourceRequest): boolean {
  if (!resources) return false;
  if (subresource === '') return resources.includes('*') || resources.includes(resource);
  return (
    resources.includes('*') ||
    resources.includes(`${resource}/${subresource}`) ||
    resources.includes(`*/${subresource}`)
  );
}
