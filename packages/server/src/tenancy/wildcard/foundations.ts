/**
 * Base objects as one control plane sees them. They are computed from the stored data of the tenant at a revision, without opening the
 * tenant and without writing. Some ConfigMaps are derived from the tenant's keys, and exist as soon as the keys do.
 */

import { layeredStore, prefixRange } from '@hangar/store';
import type { Base, Entry, Revision, Store } from '@hangar/store';
import type { TenantBase } from '../base/base.ts';
import { entriesOfTenant } from '../base/of-tenant.ts';
import { ownConfigMapKeys } from '../base/own-config-maps.ts';
import { withEntries } from '../base/with-entries.ts';
import { baseRevisionOf, decodeIdentity } from '../identity.ts';
import type { TenantIdentity } from '../identity.ts';
import { decodeKeys } from '../keys/encoding.ts';
import type { TenantKeys } from '../keys/keys.ts';
import { identityKey, isTenantPath, keysKey, rootPath, tenantPrefix } from '../layout.ts';
import type { TenantWorld } from '../open-tenant.ts';
import { tenantsPrefix } from '../tenant.ts';
import type { Place } from './place.ts';

/** Stored data of a control plane besides its objects, as far as a place requires it. */
export interface Records {
  /** The `Tenant` object exists. */
  readonly hasTenant: boolean;
  readonly identity: Entry | undefined;
  /** Without private keys. */
  readonly keys: TenantKeys | undefined;
}

export interface Foundation {
  readonly base: Base;
  /** Revision of the base entries. */
  readonly revision: Revision;
}

export type FoundationsWorld = Pick<TenantWorld, 'store' | 'storePrefix' | 'url' | 'servingCa' | 'hasNodes'>;

/** The management plane has no base and always exists. */
const ofRoot: Records = { hasTenant: true, identity: undefined, keys: undefined };

/** Identity for reading keys only: keys of a base are the same for all tenants. */
const model: TenantIdentity = { seed: '', createdAt: '2001-02-03T04:05:06Z' };

export function publicKeysOf({ value }: Entry): TenantKeys {
  const { authority, frontProxyAuthority } = decodeKeys(value);
  return {
    authority: { ...authority, key: '' },
    frontProxyAuthority: { ...frontProxyAuthority, key: '' },
    serviceAccountKey: '',
  };
}

/** Reports whether another API server serves the tenant. */
export const isRemote = ({ hasTenant, identity }: Pick<Records, 'hasTenant' | 'identity'>): boolean =>
  hasTenant && identity !== undefined && decodeIdentity(identity.value).remote !== undefined;

/** A hold rewrites the identity of a tenant, and keeps its base. */
function isBaseOf({ identity: one }: Records, { identity: other }: Records): boolean {
  if (!one || !other || baseRevisionOf(one) !== baseRevisionOf(other)) return false;
  const [before, after] = [decodeIdentity(one.value), decodeIdentity(other.value)];
  return before.seed === after.seed && before.isMaterialised === after.isMaterialised;
}

/** Base objects in one place; most places contain none. Also decides which control planes are visible. */
export class Foundations {
  readonly #world: FoundationsWorld;
  readonly #base: TenantBase;
  /** Keys of base objects in this place, below the prefix of a control plane. */
  readonly bornKeys: readonly string[];
  readonly #needsKeys: boolean;

  constructor(world: FoundationsWorld, base: TenantBase, { own }: Place) {
    this.#world = world;
    this.#base = base;
    const made = [...ownConfigMapKeys(base.hasAccounts)].filter((key) => key.startsWith(own));
    this.#needsKeys = made.length > 0;
    this.bornKeys = [...base.layer(model).keysIn(prefixRange(own)), ...made];
  }

  get hasBase(): boolean {
    return this.bornKeys.length > 0;
  }

  /** A held tenant is visible: its objects exist, and do not change. The range of a Remote tenant is not visible. */
  isVisible(cluster: string, { hasTenant, identity }: Records): boolean {
    if (cluster === rootPath) return true;
    return hasTenant && identity !== undefined && !isRemote({ hasTenant, identity });
  }

  /** Reports whether both have the same base objects with the same revision. */
  isSame(one: Records, other: Records): boolean {
    if (!this.hasBase) return true;
    const isSameBase = one.identity?.modRevision === other.identity?.modRevision || isBaseOf(one, other);
    return isSameBase && (!this.#needsKeys || !one.keys === !other.keys);
  }

  of(cluster: string, { identity: entry, keys }: Records): Foundation | undefined {
    if (cluster === rootPath || !entry || !this.hasBase) return undefined;
    const identity = decodeIdentity(entry.value);
    if (identity.isMaterialised) return undefined;
    const shared = this.#base.layer(identity);
    const revision = baseRevisionOf(entry);
    if (!this.#needsKeys || !keys) return { base: shared, revision };
    const made = entriesOfTenant({ ...this.#world, base: this.#base }, { path: cluster, identity, keys });
    return { base: withEntries(shared, made), revision };
  }

  /** Reads the records that the place requires, of a control plane whose `Tenant` exists. */
  async recordsOfTenant(cluster: string, at: Revision): Promise<Records> {
    if (cluster === rootPath) return ofRoot;
    const { store } = this.#world;
    const prefix = this.prefixOf(cluster);
    if (!this.#needsKeys) {
      const { entry: identity } = await store.get(identityKey(prefix), { atRevision: at });
      return { hasTenant: true, identity, keys: undefined };
    }
    const both = { start: keysKey(prefix), end: `${identityKey(prefix)}\0` };
    const { entries } = await store.range(both, { atRevision: at });
    const sealed = entries.find(({ key }) => key === keysKey(prefix));
    return {
      hasTenant: true,
      identity: entries.find(({ key }) => key === identityKey(prefix)),
      keys: sealed && publicKeysOf(sealed),
    };
  }

  async records(cluster: string, at: Revision): Promise<Records> {
    if (cluster === rootPath) return ofRoot;
    if (!isTenantPath(cluster)) return { ...ofRoot, hasTenant: false };
    const { store } = this.#world;
    const key = `${this.prefixOf(rootPath)}${tenantsPrefix}${cluster}`;
    const [{ entry }, records] = await Promise.all([
      store.get(key, { atRevision: at }),
      this.recordsOfTenant(cluster, at),
    ]);
    return { ...records, hasTenant: entry !== undefined };
  }

  /** Returns a read-only view of a control plane: its own entries over those of its base. */
  view(cluster: string, records: Records): Store {
    const { store } = this.#world;
    const foundation = this.of(cluster, records);
    if (!foundation) return store;
    const { base, revision: baseRevision } = foundation;
    return layeredStore({ store, prefix: this.prefixOf(cluster), base, baseRevision });
  }

  prefixOf(cluster: string): string {
    return tenantPrefix(this.#world.storePrefix, cluster);
  }
}
