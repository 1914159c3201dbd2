/** The evaluator of a resource that is served here, chosen once: every write asks. */

import { evaluatorOf } from '@hangar/api/quota';
import type { Evaluator } from '@hangar/api/quota';
import type { Resource } from '../../../resources/resource.ts';

const known = new WeakMap<Resource, Evaluator | 'none'>();

/** Undefined for what no quota counts. */
export function evaluatorFor(resource: Resource): Evaluator | undefined {
  let evaluator = known.get(resource);
  if (!evaluator) {
    evaluator = evaluatorOf({ group: resource.group, resource: resource.name }) ?? 'none';
    known.set(resource, evaluator);
  }
  return evaluator === 'none' ? undefined : evaluator;
}
