/** The class that decides which pods go first when a node runs short. */

import { compareQuantities, addQuantities, signOf } from '../base/quantities.ts';
import type { ResourceList } from '../base/quantities.ts';
import type { PodSpec, ResourceRequirements } from '../types/pod.ts';

export type QualityOfService = 'Guaranteed' | 'Burstable' | 'BestEffort';

type Sums = Map<string, string>;

export function qualityOfService(spec: PodSpec): QualityOfService {
  const [requests, limits]: [Sums, Sums] = [new Map(), new Map()];
  // What the pod says as a whole counts instead of what its containers say.
  const holders: readonly (ResourceRequirements | undefined)[] = spec.resources
    ? [spec.resources]
    : [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ resources }) => resources);
  let isLimited = true;
  for (const holder of holders) {
    add(requests, holder?.requests);
    const found = add(limits, holder?.limits);
    const isOwnLimit = !spec.resources || Object.keys(holder?.limits ?? {}).length > 0;
    if (isOwnLimit && !(found.has('cpu') && found.has('memory'))) isLimited = false;
  }
  if (requests.size === 0 && limits.size === 0) return 'BestEffort';
  const isMet = [...requests].every(([name, amount]) => {
    const limit = limits.get(name);
    return limit !== undefined && compareQuantities(limit, amount) === 0;
  });
  return isLimited && isMet && requests.size === limits.size ? 'Guaranteed' : 'Burstable';
}

function add(into: Sums, amounts: ResourceList | undefined): ReadonlySet<string> {
  const found = new Set<string>();
  for (const name of ['cpu', 'memory']) {
    const amount = amounts && Object.hasOwn(amounts, name) ? amounts[name]! : '0';
    if (signOf(amount) <= 0) continue;
    found.add(name);
    const sum = into.get(name);
    into.set(name, sum === undefined ? amount : addQuantities(sum, amount));
  }
  return found;
}
