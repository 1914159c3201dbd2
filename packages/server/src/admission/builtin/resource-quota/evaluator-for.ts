/** Caches the quota evaluator of each resource: every write needs it. */

import { evaluatorOf } from '@hangar/api/quota';
import type { Evaluator } from '@hangar/api/quota';
import type { Resource } from '../../../resources/resource.ts';

const known = new WeakMap<Resource, Evaluator | 'none'>();

/** Returns undefined if no quota counts the resource. */
export function evaluatorFor(resource: Resource): Evaluator | undefined {
  let evaluator = known.get(resource);
  if (!evaluator) {
    evaluator = evaluatorOf({ group: resource.group, resource: resource.name }) ?? 'none';
    known.set(resource, evaluator);
  }
  return evaluator === 'none' ? undefined : evaluator;
}
