/** Additional effects of the deletion of built-in kinds. */

import type { BuiltinResource } from '../builtin/schemas.ts';
import { numberAt, objectAt, stringAt } from '../defaults/access.ts';
import type { KubeObject } from '../object.ts';

/** Default propagation to an object's dependents; `unsupported`: it cannot have any. */
export type DependentsPolicy = 'delete' | 'orphan' | 'unsupported';

const policies: Readonly<Record<string, DependentsPolicy>> = {
  // As before the garbage collector existed.
  'batch/v1/jobs': 'orphan',
  '/v1/replicationcontrollers': 'orphan',
  '/v1/events': 'unsupported',
  'events.k8s.io/v1/events': 'unsupported',
};

export const dependentsPolicy = ({ group, version, name }: BuiltinResource): DependentsPolicy =>
  policies[`${group}/${version}/${name}`] ?? 'delete';

/** Returns the grace period of a pod: that of the client, else that of the pod; zero if nothing runs. */
export function podGracePeriodSeconds(pod: KubeObject, requested: number | undefined): number {
  const spec = objectAt(pod, 'spec');
  const phase = stringAt(objectAt(pod, 'status'), 'phase');
  if (stringAt(spec, 'nodeName') === '' || phase === 'Failed' || phase === 'Succeeded') return 0;
  const seconds = requested ?? numberAt(spec, 'terminationGracePeriodSeconds');
  return seconds < 0 ? 1 : seconds;
}
