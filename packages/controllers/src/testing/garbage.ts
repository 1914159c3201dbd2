/** A fleet with a running garbage collector, and helpers for objects that own each other. */

import { find } from '@hangar/client';
import type { ApiObject, Client, DeleteOptions, Kind } from '@hangar/client';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { startTestFleet } from '@hangar/testkit';
import type { TestFleet } from '@hangar/testkit';
import type { ControllerWorld, FleetController } from '../contract.ts';
import { GarbageCollector } from '../garbage-collection/controller.ts';
import { eventually, runControllers } from './run-controllers.ts';
import type { RunningControllers } from './run-controllers.ts';

type OwnerOptions = { readonly blocks?: boolean };
export const ownedBy = ({ apiVersion, kind, metadata }: ApiObject, { blocks }: OwnerOptions = {}) => ({
  apiVersion,
  kind,
  name: metadata.name!,
  uid: metadata.uid!,
  ...(blocks === undefined ? {} : { blockOwnerDeletion: blocks }),
});

export interface World extends AsyncDisposable {
  readonly fleet: TestFleet;
  readonly client: Client;
  readonly collector: GarbageCollector;
  readonly controllers: RunningControllers;
}

export async function open(clusters: readonly string[] = ['red']): Promise<World> {
  const fleet = await startTestFleet({ clusters });
  const { controllers, collector } = run(fleet);
  await controllers.synced;
  return {
    fleet,
    client: fleet.clientOf(clusters[0]!),
    collector,
    controllers,
    async [Symbol.asyncDispose]() {
      await controllers.stop();
      await fleet[Symbol.asyncDispose]();
    },
  };
}

export function run(fleet: TestFleet): { controllers: RunningControllers; collector: GarbageCollector } {
  let collector: GarbageCollector | undefined;
  const make = (world: ControllerWorld): FleetController[] => [(collector = new GarbageCollector(world))];
  const controllers = runControllers(fleet, { controllers: make });
  return { controllers, collector: collector! };
}

export const namespace = 'default';
export const map = (
  client: Client,
  name: string,
  owners: readonly object[] = [],
  more: object = {},
): Promise<ConfigMap> =>
  client.create(ConfigMap, {
    metadata: { namespace, name, ...(owners.length === 0 ? {} : { ownerReferences: owners as never }), ...more },
  });
export const isGone = async (
  client: Client,
  kind: Kind<ApiObject>,
  name: string,
  where = namespace,
): Promise<boolean> =>
  (await find(client, kind, kind.isNamespaced ? { namespace: where, name } : { name })) === undefined;
export const remove = (client: Client, name: string, options?: DeleteOptions): Promise<boolean> =>
  client.delete(ConfigMap, { namespace, name }, options);
/** Resolves when all delivered changes are processed. */
export const settled = async ({ controllers, client }: World): Promise<void> => {
  const marker = await map(client, `marker-${performance.now()}`.replace('.', '-'));
  const dependent = await map(client, `${marker.metadata.name}-d`, [ownedBy(marker)]);
  await remove(client, marker.metadata.name!);
  await eventually(() => isGone(client, ConfigMap, dependent.metadata.name!));
  await eventually(() => controllers.set.length === 0);
};

/** Removes the finalizers of an object. */
export const release = (client: Client, name: string): Promise<unknown> =>
  client.patch(ConfigMap, { namespace, name }, { type: 'merge', body: { metadata: { finalizers: null } } });
