/** What a tenant has, and what it has used since it was made. Found out without opening it. */

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
  /** When it was made; RFC 3339. */
  readonly since: string;
  readonly objects: number;
  readonly storedBytes: number;
  readonly objectsPerKind: ReadonlyMap<string, number>;
  /** Under way on this server. */
  readonly watches: number;
}

/** Which keys every tenant is born with; told without the tenant's prefix. */
export async function bornWith(world: Pick<TenantWorld, 'base'>, identity: TenantIdentity) {
  const base = await world.base();
  const layer = base.layer(identity);
  const own = ownConfigMapKeys(base.hasAccounts);
  return (key: string): boolean => layer.has(key) || own.has(key);
}

/** Undefined: there is no such tenant. */
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
