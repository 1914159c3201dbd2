/** Location of the pod template in each kind that creates pods. */

import type { JsonObject, ObjectMeta } from '@hangar/api';
import type { PodSpec } from '../pod.ts';

export interface Template {
  readonly metadata: ObjectMeta;
  readonly spec: PodSpec;
}

const paths: ReadonlyMap<string, readonly string[]> = new Map([
  ['/podtemplates', ['template']],
  ['/replicationcontrollers', ['spec', 'template']],
  ['apps/replicasets', ['spec', 'template']],
  ['apps/deployments', ['spec', 'template']],
  ['apps/statefulsets', ['spec', 'template']],
  ['apps/daemonsets', ['spec', 'template']],
  ['batch/jobs', ['spec', 'template']],
  ['batch/cronjobs', ['spec', 'jobTemplate', 'spec', 'template']],
]);

export const resourcesWithTemplates: readonly string[] = [...paths.keys()];

export function templateOf(resource: { group: string; name: string }, object: JsonObject): Template | undefined {
  let found: JsonObject | undefined = object;
  for (const name of paths.get(`${resource.group}/${resource.name}`)!) {
    found = (found?.[name] ?? undefined) as JsonObject | undefined;
  }
  if (!found) return undefined;
  const { metadata, spec } = found as Partial<Template>;
  return { metadata: metadata ?? {}, spec: spec ?? {} };
}
