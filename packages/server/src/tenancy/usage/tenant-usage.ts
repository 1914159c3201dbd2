/** Current amounts of a tenant and its usage since creation, computed without opening it. */

import type { Entry } from '@hangar/store';
import { ownConfigMapKeys } from '../base/own-config-maps.ts';
import { decodeIdentity } from '../identity.ts';
import type { TenantIdentity } from '../identity.ts';
import { identityKey, tenantPrefix } from '../layout.ts';
import type { TenantWorld } from '../open-tenant.ts';
import { countAll, Counted } from './counted.ts';
import type { UsageCounters } from './usage-record.ts';

export type UsageWorld = Pick<TenantWorld, 'store' | 'storePrefix' | 'clock' | 'base' | 'usage'>;

export interface TenantUsage extends UsageCounters {
  /** Creation time; RFC 3339. */
  readonly since: string;
  readonly objects: number;
  readonly storedBytes: number;
  readonly objectsPerKind: ReadonlyMap<string, number>;
  /** Number of open watches on this server. */
  readonly watches: number;
}

/** Returns a function that reports whether a key, without the tenant's prefix, is in the base. */
export async function bornWith(world: Pick<TenantWorld, 'base'>, identity: TenantIdentity) {
  const base = await world.base();
  const layer = base.layer(identity);
  const own = ownConfigMapKeys(base.hasAccounts);
  return (key: string): boolean => layer.has(key) || own.has(key);
}

/** Returns undefined if the tenant does not exist. */
export async function tenantUsage(world: UsageWorld, path: string): Promise<TenantUsage | undefined> {
  const { store, storePrefix, usage } = world;
  const prefix = tenantPrefix(storePrefix, path);
  const { entry }: { entry: Entry | undefined } = await store.get(identityKey(prefix));
  if (!entry) return undefined;
  const identity = decodeIdentity(entry.value);
  const counted = new Counted({ storePrefix, prefix, isBornWith: await bornWith(world, identity) });
  const [{ objects, storedBytes, objectsPerKind }, total] = await Promise.all([
    countAll(world, counted),
    usage.total(path, identity.seed),
  ]);
  const watches = usage.watches(path);
  return { ...total, since: identity.createdAt, objects, storedBytes, objectsPerKind, watches };
}
