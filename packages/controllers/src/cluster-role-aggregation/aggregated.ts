/** What ClusterRoles with an aggregationRule collect. */

import { labelSelectorOf } from '@hangar/api/selectors';
import type { ClusterRole, PolicyRule } from '@hangar/client/kinds/rbac-v1';

type Rules = readonly PolicyRule[];

/**
 * Roles whose rules are not what they collect, with what they should be. Of all ClusterRoles of a control plane.
 *
 * What is collected follows from the roles that collect nothing, never from what was written last: of roles that collect each other,
 * rules would go round in circles, and those of a role that is gone would never go.
 */
export function outdated(roles: readonly ClusterRole[]): Map<string, Rules> {
  const byName = [...roles].sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1));
  const collecting = byName.filter(({ aggregationRule }) => aggregationRule);
  const sources = new Map(collecting.map((role) => [role, sourcesOf(role, byName)]));
  const rules = new Map<ClusterRole, Rules>(
    byName.map((role) => [role, role.aggregationRule ? [] : (role.rules ?? [])]),
  );
  // One that collects another one needs it to be done first; those that collect each other end when there is nothing new.
  let isChanged = true;
  for (let round = 0; isChanged && round <= collecting.length; round++) {
    isChanged = false;
    for (const role of collecting) {
      const collected = together(sources.get(role)!, rules);
      if (collected.length === rules.get(role)!.length) continue;
      rules.set(role, collected);
      isChanged = true;
    }
  }
  const changed = collecting.filter((role) => !isSame(role.rules ?? [], rules.get(role)!));
  return new Map(changed.map((role) => [role.metadata.name!, rules.get(role)!]));
}

/** In the order of its selectors, then of names. */
const sourcesOf = (role: ClusterRole, all: readonly ClusterRole[]): readonly ClusterRole[] =>
  (role.aggregationRule?.clusterRoleSelectors ?? [])
    .map((one) => labelSelectorOf(one))
    .flatMap((selector) => all.filter((one) => one !== role && selector.matches(one.metadata.labels ?? {})));

/** Each rule once. */
function together(sources: readonly ClusterRole[], rulesOf: ReadonlyMap<ClusterRole, Rules>): PolicyRule[] {
  const collected = new Map<string, PolicyRule>();
  for (const one of sources) {
    for (const rule of rulesOf.get(one)!) {
      const text = textOf(rule);
      if (!collected.has(text)) collected.set(text, rule);
    }
  }
  return [...collected.values()];
}

/** In whatever order: it has no meaning. */
const isSame = (some: Rules, others: Rules): boolean =>
  new Set(some.map(textOf)).symmetricDifference(new Set(others.map(textOf))).size === 0;

const texts = new WeakMap<PolicyRule, string>();

/** Absent and empty lists are the same. */
function textOf(rule: PolicyRule): string {
  let text = texts.get(rule);
  if (text === undefined) {
    const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = rule;
    text = JSON.stringify([verbs, apiGroups ?? [], resources ?? [], resourceNames ?? [], nonResourceURLs ?? []]);
    texts.set(rule, text);
  }
  return text;
}
