/** The HostedControlPlane of a ControlPlane as the dedicated side of its migration. */

import { find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { CodedError } from '@hangar/core';
import { isBeingDeleted, isControlledBy } from '@hangar/runtime';
import { ControlPlane, ControlPlaneClass, managementNamespace } from '../api/index.ts';
import type { World } from '../control-plane/world.ts';
import { HostedControlPlane, replicaOfAnnotation } from '../dedicated/hosted-control-plane.ts';
import type { HostedControlPlaneObject } from '../dedicated/hosted-control-plane.ts';
import { hostedObject, wantedOf } from '../dedicated/step.ts';
import type { DedicatedReplica } from './contract.ts';
import type { DedicatedSide } from './sides.ts';

export interface DedicatedPlaneSideOptions {
  readonly name: string;
  readonly replica: DedicatedReplica;
  readonly client: Client;
  /** The management plane itself. */
  readonly apiReader: Pick<Client, 'get' | 'list'>;
  readonly world: Pick<World, 'hosted' | 'dedicated' | 'writes'>;
}

export function dedicatedPlaneSide(options: DedicatedPlaneSideOptions): DedicatedSide {
  const { name, replica, client, apiReader, world } = options;
  const key = { namespace: managementNamespace(name), name };
  const current = (signal: AbortSignal): Promise<HostedControlPlaneObject | undefined> =>
    find(apiReader, HostedControlPlane, key, { signal });
  return {
    replica,
    async prepare(id, signal) {
      const controlPlane = await apiReader.get(ControlPlane, { name }, { signal });
      const there = await current(signal);
      if (there) {
        const isOurs = isControlledBy(there, controlPlane) && !isBeingDeleted(there);
        if (isOurs && there.metadata.annotations?.[replicaOfAnnotation] === id) return;
        throw new CodedError(
          'Conflict',
          `HostedControlPlane "${key.namespace}/${name}" does not belong to this migration: delete it`,
        );
      }
      const { classRef } = controlPlane.spec ?? {};
      const ofClass = classRef && (await find(client, ControlPlaneClass, { name: classRef.name }, { signal }));
      await world.hosted.isServed(signal);
      const wanted = await wantedOf({ controlPlane, class: ofClass, world, signal });
      if ('type' in wanted) throw new CodedError(wanted.reason, wanted.message);
      const { metadata, spec } = hostedObject({ controlPlane, namespace: key.namespace }, wanted);
      const annotations = { ...metadata.annotations, [replicaOfAnnotation]: id };
      await world.writes.make('migration-hosted-control-plane', () =>
        client.create(HostedControlPlane, { metadata: { ...metadata, annotations }, spec }, { signal }),
      );
    },
    exists: async (signal) => (await current(signal)) !== undefined,
    async delete(signal) {
      const there = await current(signal);
      if (!there || isBeingDeleted(there)) return;
      const preconditions = { uid: there.metadata.uid! };
      await world.writes.make('migration-hosted-control-plane-delete', () =>
        client.delete(HostedControlPlane, key, { preconditions, signal }),
      );
    },
  };
}
