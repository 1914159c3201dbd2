/** Measures the deletion of an owner of many objects: from the request until the last of them is gone. */

import type { Client, DeleteOptions } from '@hangar/client';
import { ConfigMap, Namespace } from '@hangar/client/kinds/core-v1';
import { inParallel, timeUntil } from './waiting.ts';

export interface GarbageOptions {
  readonly namespace: string;
  readonly dependents: number;
  readonly propagationPolicy: NonNullable<DeleteOptions['propagationPolicy']>;
}

export async function garbageCollection(client: Client, options: GarbageOptions): Promise<number> {
  const { namespace, dependents, propagationPolicy } = options;
  await client.create(Namespace, { metadata: { name: namespace } });
  const owner = await client.create(ConfigMap, {
    metadata: { namespace, name: 'owner', labels: { bench: namespace } },
  });
  const ownerReferences = [
    { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid!, blockOwnerDeletion: true },
  ];
  await inParallel(
    Array.from({ length: dependents }, (_, at) => `d${at}`),
    (name) =>
      client.create(ConfigMap, { metadata: { namespace, name, labels: { bench: namespace }, ownerReferences } }),
  );
  let gone = 0;
  const elapsedMs = await timeUntil(
    { client, kind: ConfigMap, namespace, labelSelector: { bench: namespace } },
    () => client.delete(ConfigMap, { namespace, name: 'owner' }, { propagationPolicy }),
    ({ type }) => type === 'DELETED' && ++gone === dependents + 1,
  );
  await client.delete(Namespace, { name: namespace });
  return elapsedMs;
}
