/**
 * `GET …/tenants/STAR/usage`, where STAR is `*`: activity of all tenants on this server, for monitoring. By default it lists the tenants in
 * use, from memory alone, with their load in the last minutes. `?idle=true` adds the others; `?count=true` adds
 * the amounts that each tenant stores, which reads the names of all their objects.
 */

import type { JsonObject } from '@hangar/api';
import { breathe } from '@hangar/core';
import type { Answer } from '../../http/message.ts';
import { objectAnswer, wantedBy } from '../../objects/answers.ts';
import type { Call } from '../../verbs/call.ts';
import type { TenantWorld } from '../open-tenant.ts';
import type { Tenant } from '../tenant.ts';
import { recentLoads } from './recent-activity.ts';
import { tenantUsage } from './tenant-usage.ts';
import type { TenantActivity } from './usage-book.ts';

export const everyUsageOperation =
  (world: TenantWorld, tenants: () => Iterable<Tenant>) =>
  async (call: Call): Promise<Answer> => {
    const want = wantedBy(call);
    const isCounted = call.query.flag('count') ?? false;
    const includesIdle = (call.query.flag('idle') ?? false) || isCounted;
    const active = new Map(Array.from(world.usage.activities(), (one) => [one.path, one]));
    const recent = recentOf(world, active);
    const all = Array.from(tenants());
    const items: JsonObject[] = [];
    for (const { path, uid } of all) {
      const activity = active.get(path);
      const load = recent(path);
      if (!activity && !load && !includesIdle) continue;
      const counted = isCounted ? await countedOf(world, path) : {};
      if (!counted) continue;
      const status = { ...statusOf(activity), ...(load ? { recent: load } : {}), ...counted };
      items.push({ metadata: { name: path, uid }, status });
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

/** Returns a function with the load of a tenant at this moment, or undefined if it has none. */
function recentOf({ usage, clock, fairQueue }: TenantWorld, active: ReadonlyMap<string, TenantActivity>) {
  const loads = recentLoads(active, clock.monotonicMs());
  return (path: string): JsonObject | undefined => {
    const load = loads.get(path);
    const stalls = usage.stalls.count(path);
    if (!load && stalls === 0) return undefined;
    const processingSeconds = Math.round(fairQueue?.totalMs(path) ?? 0) / 1_000;
    return { ...(load ? { ...load, processingSeconds } : {}), stalls };
  };
}

/** Returns undefined if the tenant was deleted meanwhile. Other requests are served in between. */
async function countedOf(world: TenantWorld, path: string): Promise<JsonObject | undefined> {
  const usage = await tenantUsage(world, path);
  await breathe(world.clock);
  return usage && { objects: usage.objects, storedBytes: usage.storedBytes };
}
