/** Sets default requests and limits on containers and records them in an annotation of the pod. */

import type { Amounts } from '@hangar/api/quota';
import { specOf } from '../pod.ts';
import type { Container, Pod, ResourceList } from '../pod.ts';
import type { LimitRange } from './limit-range.ts';

const annotation = 'kubernetes.io/limit-ranger';

export function fillDefaults(pod: Pod, { defaultRequests, defaultLimits }: LimitRange): void {
  if (defaultRequests.size === 0 && defaultLimits.size === 0) return;
  const told: string[] = [];
  const fillContainer = (container: Container, what: string): void => {
    const resources = (container.resources ??= {});
    const limits = fill(resources.limits, defaultLimits);
    const requests = fill(resources.requests, defaultRequests);
    resources.limits = limits.list;
    resources.requests = requests.list;
    const whose = `for ${what} ${container.name ?? ''}`;
    if (requests.set.length > 0) told.push(`${requests.set.join(', ')} request ${whose}`);
    if (limits.set.length > 0) told.push(`${limits.set.join(', ')} limit ${whose}`);
  };
  const { containers, initContainers } = specOf(pod);
  for (const container of containers ?? []) fillContainer(container, 'container');
  for (const container of initContainers ?? []) fillContainer(container, 'init container');
  if (told.length === 0) return;
  pod.metadata.annotations = {
    ...pod.metadata.annotations,
    [annotation]: `LimitRanger plugin set: ${told.join('; ')}`,
  };
}

/** Returns the filled list and, in `set`, the sorted names that were missing. */
function fill(given: ResourceList, defaults: Amounts): { list: Record<string, string>; set: string[] } {
  const list = new Map(Object.entries(given ?? {}));
  const set = [...defaults.keys()].filter((name) => !list.has(name)).sort();
  for (const name of set) list.set(name, defaults.get(name)!.text);
  return { list: Object.fromEntries(list), set };
}
