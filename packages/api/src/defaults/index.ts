/**
 * Defaults of the built-in kinds, as kube-apiserver 1.36 sets them with its standard feature gates after decoding an object, including the
 * changes of its internal types, such as a secret's `stringData`. Idempotent. It reads no clock: the time that a device's taint was added
 * stays as the client set it.
 */

import { schemaOf } from '../builtin/schemas.ts';
import type { KubeObject } from '../object.ts';
import { coreDefaulters } from './core.ts';
import { otherDefaulters } from './others.ts';
import { applyPlan, Planner } from './plan.ts';
import { podDefaulters } from './pods.ts';
import { roundResources } from './resource-list.ts';
import { volumeDefaulters } from './volumes.ts';
import { workloadDefaulters } from './workloads.ts';

const planner = new Planner(
  { ...coreDefaulters, ...podDefaulters, ...volumeDefaulters, ...workloadDefaulters, ...otherDefaulters },
  [{ goName: 'v1.ResourceList', apply: roundResources }],
);

/** Sets defaults in place. An object that is not of a built-in kind stays as it is. */
export function applyDefaults(object: KubeObject): void {
  // node.k8s.io uses types of core, but none of their defaults.
  if (object.apiVersion === 'node.k8s.io/v1') return;
  const schema = schemaOf(object.apiVersion, object.kind);
  if (schema !== undefined) applyPlan(planner.planOf(schema), object);
}
