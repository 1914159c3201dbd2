/** Computes a pod's quality of service from its resources. */

import { objectAt, objectsAt } from './access.ts';
import { add, quantityText } from './resource-list.ts';
import type { Resources } from './resource-list.ts';
import type { JsonObject } from '../object.ts';
import { compareQuantities } from '../values/quantity.ts';

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

const counted = ['cpu', 'memory'];

/** Returns the CPU and memory quantities above zero. */
function positive(list: JsonObject | undefined): Resources {
  const found: Resources = new Map();
  for (const name of counted) {
    const quantity = quantityText(list?.[name]);
    if (compareQuantities(quantity, '0') > 0) found.set(name, quantity);
  }
  return found;
}

export function qosClass(podSpec: JsonObject | undefined): QosClass {
  const requests: Resources = new Map();
  const limits: Resources = new Map();
  let isGuaranteed = true;
  // Resources of the pod as a whole replace those of its containers.
  const whole = objectAt(podSpec, 'resources');
  const holders = whole
    ? [whole]
    : [...objectsAt(podSpec, 'containers'), ...objectsAt(podSpec, 'initContainers')].map((one) =>
        objectAt(one, 'resources'),
      );
  for (const holder of holders) {
    const own = positive(objectAt(holder, 'limits'));
    add(requests, positive(objectAt(holder, 'requests')));
    add(limits, own);
    if (own.size < counted.length && !(whole && Object.keys(objectAt(whole, 'limits') ?? {}).length === 0))
      isGuaranteed = false;
  }
  if (requests.size === 0 && limits.size === 0) return 'BestEffort';
  const isEqual = [...requests].every(([name, quantity]) => compareQuantities(limits.get(name) ?? '0', quantity) === 0);
  return isGuaranteed && isEqual && requests.size === limits.size ? 'Guaranteed' : 'Burstable';
}
