/** Measures the time until pods can be created in a new namespace: from its creation until its default account exists. */

import type { Client } from '@hangar/client';
import { Namespace, ServiceAccount } from '@hangar/client/kinds/core-v1';
import { timeUntil } from './waiting.ts';

/** Sorted. One after the other. */
export async function defaultAccounts(client: Client, prefix: string, count: number): Promise<number[]> {
  const all: number[] = [];
  for (let at = 0; at < count; at++) {
    const name = `${prefix}-${at}`;
    const elapsedMs = await timeUntil(
      { client, kind: ServiceAccount, namespace: name },
      () => client.create(Namespace, { metadata: { name } }),
      ({ type, ...event }) => type === 'ADDED' && 'object' in event && event.object.metadata.name === 'default',
    );
    all.push(elapsedMs);
    await client.delete(Namespace, { name });
  }
  return all.sort((a, b) => a - b);
}
