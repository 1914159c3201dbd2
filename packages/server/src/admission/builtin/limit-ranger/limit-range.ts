/** A parsed LimitRange: amounts are parsed once and sorted by name. */

import type { KubeObject } from '@hangar/api';
import { amountsOf } from '@hangar/api/quota';
import type { Amounts } from '@hangar/api/quota';
import type { List, ResourceList } from '../pod.ts';

export interface Limit {
  readonly type: string;
  readonly min: Amounts;
  readonly max: Amounts;
  readonly ratio: Amounts;
}

export interface LimitRange {
  readonly name: string;
  readonly namespace: string;
  readonly limits: readonly Limit[];
  /** Defaults for containers, merged from all limits. */
  readonly defaultRequests: Amounts;
  readonly defaultLimits: Amounts;
}

interface Item {
  readonly type?: string;
  readonly min?: ResourceList;
  readonly max?: ResourceList;
  readonly maxLimitRequestRatio?: ResourceList;
  readonly default?: ResourceList;
  readonly defaultRequest?: ResourceList;
}

export function readLimitRange(object: KubeObject): LimitRange {
  const { limits } = (object['spec'] ?? {}) as { limits?: List<Item> };
  const items = limits ?? [];
  const containers = items.filter(({ type }) => type === 'Container');
  return {
    name: object.metadata.name!,
    namespace: object.metadata.namespace!,
    limits: items.map((item) => ({
      type: item.type ?? '',
      min: sorted(item.min),
      max: sorted(item.max),
      ratio: sorted(item.maxLimitRequestRatio),
    })),
    defaultRequests: new Map(containers.flatMap((item) => [...sorted(item.defaultRequest)])),
    defaultLimits: new Map(containers.flatMap((item) => [...sorted(item.default)])),
  };
}

const sorted = (list: ResourceList): Amounts => new Map([...amountsOf(list)].sort(([a], [b]) => (a < b ? -1 : 1)));
