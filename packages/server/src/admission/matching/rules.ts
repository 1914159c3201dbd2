/** Matches requests against the operations and resources in the rules of a webhook or policy. */

import type { AdmissionRequest } from '../admission.ts';

export interface Rule {
  readonly operations?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  /** `pods`, `pods/status`, `pods/*`, `*`, and with `*` for any of both parts. */
  readonly resources?: readonly string[];
  readonly scope?: 'Cluster' | 'Namespaced' | '*';
}

/** A resource as named in rules. */
export interface RuleTarget {
  readonly group: string;
  readonly version: string;
  readonly name: string;
}

type Asked = Pick<AdmissionRequest, 'operation' | 'namespace' | 'subresource'>;

/** `target` replaces the resource of the request when another version of it is matched. */
export function ruleMatches(rule: Rule, { operation, namespace, subresource }: Asked, target: RuleTarget): boolean {
  return (
    scopeMatches(rule.scope, namespace) &&
    has(rule.operations, operation) &&
    has(rule.apiGroups, target.group) &&
    has(rule.apiVersions, target.version) &&
    (rule.resources ?? []).some((text) => resourceMatches(text, target.name, subresource))
  );
}

const has = (all: readonly string[] | undefined, one: string): boolean =>
  all?.some((item) => item === '*' || item === one) ?? false;

/** Namespace objects are cluster-scoped and have no namespace here. */
const scopeMatches = (scope: Rule['scope'], namespace: string): boolean =>
  scope === undefined || scope === '*' || (scope === 'Namespaced') === (namespace !== '');

function resourceMatches(text: string, resource: string, subresource: string): boolean {
  const slash = text.indexOf('/');
  const [wantedResource, wantedSubresource] = slash < 0 ? [text, ''] : [text.slice(0, slash), text.slice(slash + 1)];
  return (
    (wantedResource === '*' || wantedResource === resource) &&
    (wantedSubresource === '*' || wantedSubresource === subresource)
  );
}
