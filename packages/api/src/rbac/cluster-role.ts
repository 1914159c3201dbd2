/** A ClusterRole as authorization and aggregation read it. */

import type { LabelSelectorObject } from '../selectors/index.ts';
import type { PolicyRule } from './rules.ts';

export interface ClusterRoleView {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly rules: readonly PolicyRule[];
  /** Empty: it collects nothing. */
  readonly selectors: readonly LabelSelectorObject[];
  readonly isAggregated: boolean;
}

interface ClusterRoleObject {
  readonly metadata: { readonly name?: string; readonly labels?: Readonly<Record<string, string>> };
  readonly rules?: unknown;
  readonly aggregationRule?: unknown;
}

export function readClusterRole({ metadata, rules, aggregationRule }: ClusterRoleObject): ClusterRoleView {
  const rule = (aggregationRule ?? undefined) as { clusterRoleSelectors?: readonly LabelSelectorObject[] } | undefined;
  return {
    name: metadata.name ?? '',
    labels: metadata.labels ?? {},
    rules: (rules ?? []) as readonly PolicyRule[],
    selectors: rule?.clusterRoleSelectors ?? [],
    isAggregated: rule !== undefined,
  };
}
