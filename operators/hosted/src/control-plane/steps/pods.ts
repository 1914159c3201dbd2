/** Problems of the pods of a component. Read from the server, and only while a component is not ready: pods are not cached. */

import { Pod } from '@hangar/client/kinds/core-v1';
import { clusterNameLabel } from '../../api/index.ts';
import type { Component } from '../../render/index.ts';
import type { Pass } from '../pass.ts';
import { podTrouble } from '../rollout.ts';
import type { PodTrouble } from '../rollout.ts';

export async function troubleOf(
  { plane, apiReader, world, signal }: Pass,
  component: Component,
): Promise<PodTrouble | undefined> {
  const labelSelector = { [clusterNameLabel]: plane.name, 'app.kubernetes.io/component': component };
  const { items } = await apiReader.list(Pod, { namespace: plane.namespace, labelSelector, signal });
  return podTrouble(items, world.clock.now());
}
