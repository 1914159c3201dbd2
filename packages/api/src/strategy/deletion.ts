/** What deletion of built-in kinds does besides deleting. */

import type { BuiltinResource } from '../builtin/schemas.ts';
import { numberAt, objectAt, stringAt } from '../defaults/access.ts';
import type { KubeObject } from '../object.ts';

/** What becomes of an object's dependents when the client does not say; `unsupported`: it cannot have any. */
export type DependentsPolicy = 'delete' | 'orphan' | 'unsupported';

const policies: Readonly<Record<string, DependentsPolicy>> = {
  // As these did before there was a garbage collector.
  'batch/v1/jobs': 'orphan',
  '/v1/replicationcontrollers': 'orphan',
  '/v1/events': 'unsupported',
  'events.k8s.io/v1/events': 'unsupported',
};

export const dependentsPolicy = ({ group, version, name }: BuiltinResource): DependentsPolicy =>
  policies[`${group}/${version}/${name}`] ?? 'delete';

/** How long a pod may take to end: what the client asks, else what the pod asks; none where nothing runs. */
export function podGracePeriodSeconds(pod: KubeObject, requested: number | undefined): number {
  const spec = objectAt(pod, 'spec');
  const phase = stringAt(objectAt(pod, 'status'), 'phase');
  if (stringAt(spec, 'nodeName') === '' || phase === 'Failed' || phase === 'Succeeded') return 0;
  const seconds = requested ?? numberAt(spec, 'terminationGracePeriodSeconds');
  return seconds < 0 ? 1 : seconds;
}
