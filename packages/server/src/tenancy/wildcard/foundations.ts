/**
 * What a control plane stands on: the base that all tenants share, as this one sees it. It is found from what is stored of the
 * tenant at some revision, without opening the tenant and without writing anything: some config maps are made with the tenant's
 * keys, and are there as soon as the keys are.
 */

import { layeredStore, prefixRange } from '@hangar/store';
import type { Base, Entry, Revision, Store } from '@hangar/store';
import type { TenantBase } from '../base/base.ts';
import { entriesOfTenant } from '../base/of-tenant.ts';
import { ownConfigMapKeys } from '../base/own-config-maps.ts';
import { withEntries } from '../base/with-entries.ts';
import { decodeIdentity } from '../identity.ts';
import type { TenantIdentity } from '../identity.ts';
import { decodeKeys } from '../keys/encoding.ts';
import type { TenantKeys } from '../keys/keys.ts';
import { identityKey, isTenantPath, keysKey, rootPath, tenantPrefix } from '../layout.ts';
import type { TenantWorld } from '../open-tenant.ts';
import { tenantsPrefix } from '../tenant.ts';
import type { Place } from './place.ts';

/** What is stored of a control plane besides its objects, as far as it matters for a place. */
export interface Records {
  /** There is a `Tenant` object. */
  readonly hasTenant: boolean;
  readonly identity: Entry | undefined;
  /** Without what is secret of them. */
  readonly keys: TenantKeys | undefined;
}

export interface Foundation {
  readonly base: Base;
  /** Since when its entries are there. */
  readonly revision: Revision;
}

export type FoundationsWorld = Pick<TenantWorld, 'store' | 'storePrefix' | 'url' | 'servingCa'>;

/** The management plane stands on nothing, and is always there. */
const ofRoot: Records = { hasTenant: true, identity: undefined, keys: undefined };

/** Nobody's: keys of a base are the same for all. */
const model: TenantIdentity = { seed: '', createdAt: '2001-02-03T04:05:06Z' };

export function publicKeysOf({ value }: Entry): TenantKeys {
  const { authority, frontProxyAuthority } = decodeKeys(value);
  return {
    authority: { ...authority, key: '' },
    frontProxyAuthority: { ...frontProxyAuthority, key: '' },
    serviceAccountKey: '',
  };
}

/** For one place: most have nothing in the base, and need nothing of what is here. */
export class Foundations {
  readonly #world: FoundationsWorld;
  readonly #base: TenantBase;
  /** Of the base, below a control plane's prefix, in this place. */
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

  isVisible(cluster: string, { hasTenant, identity }: Records): boolean {
    if (cluster === rootPath) return true;
    return hasTenant && (!this.hasBase || identity !== undefined);
  }

  /** The same objects of the base are there, with the same revision. */
  isSame(one: Records, other: Records): boolean {
    if (!this.hasBase) return true;
    const isSameIdentity = one.identity?.modRevision === other.identity?.modRevision;
    return isSameIdentity && (!this.#needsKeys || !one.keys === !other.keys);
  }

  of(cluster: string, { identity: entry, keys }: Records): Foundation | undefined {
    if (cluster === rootPath || !entry || !this.hasBase) return undefined;
    const identity = decodeIdentity(entry.value);
    if (identity.isMaterialised) return undefined;
    const shared = this.#base.layer(identity);
    const revision = entry.modRevision;
    if (!this.#needsKeys || !keys) return { base: shared, revision };
    const made = entriesOfTenant({ ...this.#world, base: this.#base }, { path: cluster, identity, keys });
    return { base: withEntries(shared, made), revision };
  }

  /** Of a control plane whose `Tenant` is there: only what the place needs is read. */
  async recordsOfTenant(cluster: string, at: Revision): Promise<Records> {
    if (cluster === rootPath || !this.hasBase) return ofRoot;
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

  /** What is seen of a control plane: its own entries over those of its base. For reading alone. */
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
