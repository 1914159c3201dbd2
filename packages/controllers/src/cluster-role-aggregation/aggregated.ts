/** What ClusterRoles with an aggregationRule collect. */

import { labelSelectorOf } from '@hangar/api/selectors';
import type { ClusterRole, PolicyRule } from '@hangar/client/kinds/rbac-v1';

/** Roles whose rules are not what they collect, with what they should be. Of all ClusterRoles of a control plane. */
export function outdated(roles: readonly ClusterRole[]): Map<string, readonly PolicyRule[]> {
  const byName = [...roles].sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1));
  const rules = new Map(byName.map((role) => [role.metadata.name!, role.rules ?? []]));
  const collecting = byName.filter(({ aggregationRule }) => aggregationRule);
  // One that collects another one needs it to be done first; those that collect each other end when there is nothing new.
  let isChanged = true;
  for (let round = 0; isChanged && round <= collecting.length; round++) {
    isChanged = false;
    for (const role of collecting) {
      const collected = collectedBy(role, byName, rules);
      if (isSame(collected, rules.get(role.metadata.name!)!)) continue;
      rules.set(role.metadata.name!, collected);
      isChanged = true;
    }
  }
  const changed = collecting.filter(({ metadata, rules: before }) => !isSame(before ?? [], rules.get(metadata.name!)!));
  return new Map(changed.map(({ metadata }) => [metadata.name!, rules.get(metadata.name!)!]));
}

/** In the order of its selectors, then of names; each rule once. */
function collectedBy(
  { metadata, aggregationRule }: ClusterRole,
  all: readonly ClusterRole[],
  rulesOf: ReadonlyMap<string, readonly PolicyRule[]>,
): PolicyRule[] {
  const collected = new Map<string, PolicyRule>();
  for (const selector of (aggregationRule?.clusterRoleSelectors ?? []).map((one) => labelSelectorOf(one))) {
    for (const one of all) {
      if (one.metadata.name === metadata.name || !selector.matches(one.metadata.labels ?? {})) continue;
      for (const rule of rulesOf.get(one.metadata.name!)!) {
        const text = textOf(rule);
        if (!collected.has(text)) collected.set(text, rule);
      }
    }
  }
  return [...collected.values()];
}

const isSame = (some: readonly PolicyRule[], others: readonly PolicyRule[]): boolean =>
  some.length === others.length && some.every((rule, at) => textOf(rule) === textOf(others[at]!));

/** Absent and empty lists are the same. */
const textOf = ({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): string =>
  JSON.stringify([verbs, apiGroups ?? [], resources ?? [], resourceNames ?? [], nonResourceURLs ?? []]);
