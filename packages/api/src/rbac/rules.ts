/** A rule of a Role or ClusterRole, and equality of rules. */

import type { Steps } from '@hangar/core';

export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  /** Absent or empty: all. */
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

const texts = new WeakMap<PolicyRule, string>();

/** Returns a text that is equal for equal rules. Absent and empty lists are the same. Computed once for each rule. */
export function ruleText(rule: PolicyRule): string {
  let text = texts.get(rule);
  if (text === undefined) {
    const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = rule;
    text = JSON.stringify([verbs, apiGroups ?? [], resources ?? [], resourceNames ?? [], nonResourceURLs ?? []]);
    texts.set(rule, text);
  }
  return text;
}

const isSameRule = (one: PolicyRule, other: PolicyRule): boolean =>
  one === other ||
  (isSameList(one.verbs, other.verbs) &&
    isSameList(one.apiGroups, other.apiGroups) &&
    isSameList(one.resources, other.resources) &&
    isSameList(one.resourceNames, other.resourceNames) &&
    isSameList(one.nonResourceURLs, other.nonResourceURLs));

/** Stored lists may be null. */
const isSameList = (
  some: readonly string[] | null | undefined,
  others: readonly string[] | null | undefined,
): boolean => (some?.length ?? 0) === (others?.length ?? 0) && (some ?? []).every((one, at) => one === others![at]);

/** Rules after which work may pause. */
const pauseRules = 64;

/** Reports whether both lists have the same rules. The order of rules has no meaning. */
export function* sameRules(some: readonly PolicyRule[], others: readonly PolicyRule[]): Steps<boolean> {
  if (some === others) return true;
  if (some.length !== others.length) return false;
  // Usually they also have the same order.
  let at = 0;
  while (at < some.length && isSameRule(some[at]!, others[at]!)) if (++at % pauseRules === 0) yield;
  const known = new Set<string>();
  for (let next = at; next < some.length; next++) {
    known.add(ruleText(some[next]!));
    if (next % pauseRules === 0) yield;
  }
  for (let next = at; next < others.length; next++) {
    if (!known.has(ruleText(others[next]!))) return false;
    if (next % pauseRules === 0) yield;
  }
  return true;
}
