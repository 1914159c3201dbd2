/** Measures the deletion of a namespace with many objects: from the request until it is gone. */

import type { Client } from '@hangar/client';
import { ConfigMap, Namespace, Secret, ServiceAccount } from '@hangar/client/kinds/core-v1';
import { Lease } from '@hangar/client/kinds/coordination-v1';
import { inParallel, timeUntil } from './waiting.ts';

/** Of each 20 objects so many. */
const kinds = [
  { kind: ConfigMap, share: 8 },
  { kind: Secret, share: 6 },
  { kind: ServiceAccount, share: 3 },
  { kind: Lease, share: 3 },
] as const;

export async function namespaceDeletion(client: Client, name: string, objects: number): Promise<number> {
  await client.create(Namespace, { metadata: { name } });
  const each = kinds.flatMap(({ kind, share }) => Array.from({ length: share }, () => kind));
  await inParallel(
    Array.from({ length: objects }, (_, at) => at),
    (at) =>
      client.create<never>(each[at % each.length] as never, { metadata: { namespace: name, name: `o${at}` } } as never),
  );
  const elapsedMs = await timeUntil(
    { client, kind: Namespace, fieldSelector: { 'metadata.name': name } },
    () => client.delete(Namespace, { name }),
    ({ type }) => type === 'DELETED',
  );
  for (const { kind } of kinds) {
    const { items } = await client.list<never>(kind as never, { namespace: name });
    if (items.length > 0) throw new Error(`${items.length} ${kind.plural} are left in a namespace that is gone`);
  }
  return elapsedMs;
}
