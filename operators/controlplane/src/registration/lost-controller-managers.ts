/**
 * Sets the conditions of services to `Unknown` when their controller manager no longer renews its Leases. A condition with that reason no
 * longer leaves the control plane to the controller manager (`served.ts`): the essential controllers serve it again. A controller
 * manager that returns writes its own conditions first, and starts its programs after that.
 */

import { find } from '@hangar/client';
import type { Kind } from '@hangar/client';
import type { Clock } from '@hangar/core';
import { setConditions, writeStatus } from '@hangar/runtime';
import type { Cache, ControllerOptions, NewCondition, Reconciler } from '@hangar/runtime';
import { controllerManagerLost } from '@hangar/runtime/clusters';
import { ControlPlaneEndpoint, ControlPlaneRegistration, controllersReady, schedulerReady } from '../api/index.ts';
import type { Condition, ControllerManagerReference } from '../api/index.ts';
import { keyOfReference } from './controller-manager-liveness.ts';
import type { ControllerManagerLiveness } from './controller-manager-liveness.ts';

export interface LostControllerManagersWorld {
  readonly clock: Clock;
  readonly liveness: ControllerManagerLiveness;
}

type Served = ControlPlaneRegistration | ControlPlaneEndpoint;

const byControllerManager = 'of-controller-manager';
const kinds: readonly Kind<Served>[] = [ControlPlaneRegistration as Kind<Served>, ControlPlaneEndpoint as Kind<Served>];

/** Before the controllers. */
export function addControllerManagerIndexes(cache: Pick<Cache, 'addIndex'>): void {
  for (const kind of kinds) {
    cache.addIndex(kind, byControllerManager, ({ status }) =>
      status?.controllerManager ? [keyOfReference(status.controllerManager)] : [],
    );
  }
}

/** One for each kind that has conditions of services. */
export const lostControllerManagersControllers = (
  world: LostControllerManagersWorld,
): readonly ControllerOptions<Served>[] =>
  kinds.map((kind) => ({
    name: `controller-manager-liveness-${kind.plural}`,
    for: {
      kind,
      where: { update: (before: Served, after: Served) => referenceKeyOf(before) !== referenceKeyOf(after) },
    },
    sources: [
      ({ cluster, enqueue }, signal) => {
        const onLost = (key: string): void => {
          const lost = cluster.cache.informer(kind).byIndex(byControllerManager, key);
          for (const { metadata } of lost) enqueue({ name: metadata.name! });
        };
        return world.liveness.follow(cluster, onLost, signal);
      },
    ],
    concurrency: 4,
    reconcile: reconciler(kind, world),
  }));

const referenceKeyOf = ({ status }: Served): string | undefined =>
  status?.controllerManager && keyOfReference(status.controllerManager);

const reconciler =
  (kind: Kind<Served>, { clock, liveness }: LostControllerManagersWorld): Reconciler =>
  async ({ name }, { client, signal }) => {
    const object = await find(client, kind, { name });
    const reference = object?.status?.controllerManager;
    if (!object || !reference || !liveness.isLost(reference)) return;
    const lost = (object.status?.conditions ?? [])
      .filter(isAboutService)
      .map(({ type }) => lostCondition(type, reference));
    if (lost.length === 0) return;
    const conditions = setConditions(object.status?.conditions, lost, clock);
    await writeStatus(client, { kind, object, status: { ...object.status, conditions }, signal });
  };

const isAboutService = ({ type }: Condition): boolean => type === controllersReady || type === schedulerReady;

function lostCondition(type: string, { leaseNamespace, leaseGroup }: ControllerManagerReference): NewCondition {
  const lost = `no controller manager renews a Lease of group "${leaseGroup}" in namespace "${leaseNamespace}"`;
  const next = '; until one does, the essential controllers of the platform serve the control plane if it is virtual';
  const message = type === controllersReady ? `${lost}${next}` : lost;
  return { type, status: 'Unknown', reason: controllerManagerLost, message };
}
