/**
 * `GET …/tenants/STAR/usage`, where STAR is `*`: what tenants do on this server now, for whoever watches over all of them. By itself it
 * tells of those that are in use, from memory alone, however many there are. `?idle=true` tells of the others, too; `?count=true`
 * says what each of them has, which reads the names of all their objects.
 */

import type { JsonObject } from '@hangar/api';
import { breathe } from '@hangar/core';
import type { Answer } from '../../http/message.ts';
import { objectAnswer, wantedBy } from '../../objects/answers.ts';
import type { Call } from '../../verbs/call.ts';
import type { TenantWorld } from '../open-tenant.ts';
import type { Tenant } from '../tenant.ts';
import { tenantUsage } from './tenant-usage.ts';
import type { TenantActivity } from './usage-book.ts';

export const everyUsageOperation =
  (world: TenantWorld, tenants: () => Iterable<Tenant>) =>
  async (call: Call): Promise<Answer> => {
    const want = wantedBy(call);
    const isCounted = call.query.flag('count') ?? false;
    const includesIdle = (call.query.flag('idle') ?? false) || isCounted;
    const active = new Map(Array.from(world.usage.activities(), (one) => [one.path, one]));
    const all = Array.from(tenants());
    const items: JsonObject[] = [];
    for (const { path, uid } of all) {
      const activity = active.get(path);
      if (!activity && !includesIdle) continue;
      const counted = isCounted ? await countedOf(world, path) : {};
      if (counted) items.push({ metadata: { name: path, uid }, status: { ...statusOf(activity), ...counted } });
    }
    const { apiVersion } = call.resource;
    const list = { kind: 'TenantUsageList', apiVersion, metadata: {}, status: { tenants: all.length }, items };
    return objectAnswer(call, want, list);
  };

const statusOf = (activity: TenantActivity | undefined) => ({
  requests: { read: activity?.reads ?? 0, write: activity?.writes ?? 0 },
  watches: activity?.watches ?? 0,
  memoryBytes: activity?.memoryBytes ?? 0,
});

/** Undefined: it has gone meanwhile. Others are served in between. */
async function countedOf(world: TenantWorld, path: string): Promise<JsonObject | undefined> {
  const usage = await tenantUsage(world, path);
  await breathe(world.clock);
  return usage && { objects: usage.objects, storedBytes: usage.storedBytes };
}
