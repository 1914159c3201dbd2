/**
 * The controller of ControlPlaneClasses: reports whether a class is valid. The controller of ControlPlanes applies a class, and reconciles
 * its control planes when the class changes. Nothing is created for a class, so nothing has to be cleaned up.
 */

import { find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import type { Clock } from '@hangar/core';
import { labelled, setCondition, writeStatus } from '@hangar/runtime';
import type { ControllerOptions, Reconciler } from '@hangar/runtime';
import { ControlPlaneClass, labels } from '../api/index.ts';
import { accepted } from './check.ts';

export interface ClassWorld {
  readonly clock: Clock;
  /** Built-in addons, which need no ConfigMap. */
  readonly builtinAddons: readonly string[];
  /** Namespace of the ConfigMaps of addons. */
  readonly addonNamespace: string;
}

export const classController = (world: ClassWorld): ControllerOptions<ControlPlaneClass, [], [ConfigMap]> => ({
  name: 'controlplaneclass',
  for: ControlPlaneClass,
  watches: [{ kind: ConfigMap, map: 'all', where: labelled({ [labels.addon]: undefined }) }],
  reconcile: classReconciler(world),
});

export const classReconciler =
  (world: ClassWorld): Reconciler =>
  async ({ name }, { client, signal }) => {
    const found = await find(client, ControlPlaneClass, { name });
    if (!found || found.metadata.deletionTimestamp) return;
    const condition = accepted(found, await addonsIn(client, world));
    const { generation: observedGeneration = 0 } = found.metadata;
    const next = { ...condition, observedGeneration };
    const conditions = setCondition(found.status?.conditions, next, world.clock);
    const status = { ...found.status, observedGeneration, conditions };
    await writeStatus(client, { kind: ControlPlaneClass, object: found, status, signal });
  };

async function addonsIn(client: Client, { builtinAddons, addonNamespace }: ClassWorld): Promise<Set<string>> {
  const { items } = await client.list(ConfigMap, { namespace: addonNamespace });
  const names = items.map(({ metadata }) => metadata.labels?.[labels.addon]);
  return new Set([...builtinAddons, ...names.filter((name) => name !== undefined)]);
}
