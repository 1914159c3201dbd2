/**
 * Counts the usage of a namespace for a quota by listing from the server. This includes objects that the feed does not deliver, such as
 * those of the base layer, and custom resources of any kind.
 */

import type { KubeObject } from '@hangar/api';
import { limitsOf, Tally } from '@hangar/api/quota';
import type { Amount, Amounts, Quota } from '@hangar/api/quota';
import { hasCode } from '@hangar/core';
import type { Client, Kind } from '@hangar/client';
import { KindsOfResources } from './kind-of-resource.ts';

export interface CountOptions {
  readonly client: Client;
  readonly namespace: string;
  readonly quota: Pick<Quota, 'selectors'>;
  /** Names of the limited resources. */
  readonly limits: Iterable<string>;
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

export interface Counted {
  /** Omits resources that are not served at present. */
  readonly used: Amounts;
  /** Time at which the usage decreases without an event. */
  readonly endsAtMs: number | undefined;
}

const pageSize = 500;

export async function countUsage({ client, namespace, quota, limits, nowMs, signal }: CountOptions): Promise<Counted> {
  const kinds = new KindsOfResources(client);
  const used = new Map<string, Amount>();
  let endsAtMs: number | undefined;
  for (const counted of limitsOf(limits)) {
    const kind = await kinds.find(counted, signal);
    if (!kind) continue;
    const tally = new Tally({ ...counted, quota, nowMs });
    try {
      if (!tally.isPlainCount) {
        for await (const object of client.listAll(kind, { namespace, limit: pageSize, signal }))
          tally.add(object as KubeObject);
      } else if (quota.selectors.length === 0) {
        tally.addCount(await numberOf(kind, { client, namespace, signal }));
      }
    } catch (error) {
      // Its definition was deleted meanwhile.
      if (hasCode(error, 'NotFound')) continue;
      throw error;
    }
    for (const [name, amount] of tally.used) used.set(name, amount);
    if (tally.endsAtMs !== undefined) endsAtMs = Math.min(tally.endsAtMs, endsAtMs ?? Infinity);
  }
  return { used, endsAtMs };
}

/** The server returns the number of remaining items: a list of one is enough. */
async function numberOf(
  kind: Kind,
  { client, namespace, signal }: Pick<CountOptions, 'client' | 'namespace' | 'signal'>,
): Promise<number> {
  const first = await client.metadata.list(kind, { namespace, limit: 1, signal });
  if (first.continue === undefined) return first.items.length;
  if (first.remainingItemCount !== undefined) return first.items.length + first.remainingItemCount;
  let number = 0;
  for await (const _ of client.metadata.listAll(kind, { namespace, limit: pageSize, signal })) number++;
  return number;
}
