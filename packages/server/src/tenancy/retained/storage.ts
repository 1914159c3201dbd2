/**
 * Finds the data of deleted tenants in the store. A list reads pages of keys. After each page it skips the rest of the last range,
 * regardless of its size. For tenants that this server has in its index, it reads nothing else:
 *
 *     /registry/clusters/blue/…      skipped: Tenant blue exists
 *     /registry/clusters/red/…       has an identity and no Tenant: retained
 */

import type { KubeObject } from '@hangar/api';
import { breathe } from '@hangar/core';
import { absent, prefixRange } from '@hangar/store';
import type { Entry, Revision } from '@hangar/store';
import type { KindStorage, Listed } from '../../library/storage.ts';
import { baseUid } from '../base/uid.ts';
import { decodeIdentity } from '../identity.ts';
import { clustersPrefix, identityKey, isTenantPath, retainedKey, rootPath, tenantPrefix } from '../layout.ts';
import type { TenantWorld } from '../open-tenant.ts';
import { tenantGroup, tenantsPrefix, tenantVersion } from '../tenant.ts';
import { tenantUsage } from '../usage/tenant-usage.ts';
import { decodeRetained } from './mark.ts';

/** Number of keys that a list reads at a time: those of many idle tenants, or a few of a large one. */
const pageKeysMax = 256;

export class RetainedStorage implements KindStorage {
  readonly #world: TenantWorld;
  readonly #isTenant: (path: string) => boolean;

  /**
   * `isTenant`: reports whether a Tenant of this path exists in the index of this server. It may lag behind the store: reads and deletions
   * of one object do not use it.
   */
  constructor(world: TenantWorld, isTenant: (path: string) => boolean) {
    this.#world = world;
    this.#isTenant = isTenant;
  }

  async get(_namespace: string, path: string): Promise<KubeObject | undefined> {
    if (!isTenantPath(path)) return undefined;
    const { store } = this.#world;
    const prefix = this.#prefix(path);
    const { entry: identity } = await store.get(identityKey(prefix));
    if (!identity || (await store.get(this.#tenantKey(path))).entry) return undefined;
    const [usage, { entry: mark }] = await Promise.all([
      tenantUsage(this.#world, path),
      store.get(retainedKey(prefix)),
    ]);
    return usage && this.#object(path, identity, mark, usage);
  }

  async list(): Promise<Listed<KubeObject>> {
    const { store, storePrefix, clock } = this.#world;
    const clusters = clustersPrefix(storePrefix);
    const version = await store.revision();
    const items: KubeObject[] = [];
    let { start, end } = prefixRange(clusters);
    for (;;) {
      const range = end === undefined ? { start } : { start, end };
      const { entries, more } = await store.range(range, { limit: pageKeysMax, keysOnly: true });
      const paths = [...new Set(entries.map(({ key }) => key.slice(clusters.length).split('/', 1)[0]!))];
      for (const path of paths) {
        const found = this.#isTenant(path) ? undefined : await this.get('', path);
        if (found) items.push(found);
      }
      if (!more) return { items, version };
      start = prefixRange(this.#prefix(paths.at(-1)!)).end!;
      await breathe(clock);
    }
  }

  /** Deletes in one transaction, on condition that the data is that of `expected` and that no tenant has taken it over. */
  async delete(_namespace: string, path: string, expected: number): Promise<number | undefined> {
    const prefix = this.#prefix(path);
    const { committed, revision } = await this.#world.store.commit([
      { type: 'check', key: identityKey(prefix), expected: expected as Revision },
      { type: 'check', key: this.#tenantKey(path), expected: absent },
      { type: 'deleteRange', range: prefixRange(prefix) },
    ]);
    return committed ? revision : undefined;
  }

  version(): Promise<number> {
    return this.#world.store.revision();
  }

  #object(
    name: string,
    identity: Entry,
    mark: Entry | undefined,
    { objects, storedBytes }: { readonly objects: number; readonly storedBytes: number },
  ): KubeObject {
    const { seed, createdAt, isMaterialised = false } = decodeIdentity(identity.value);
    // Data that was retained by an older server has no mark.
    const retainedSince = mark && decodeRetained(mark.value).since;
    return {
      kind: 'RetainedTenant',
      apiVersion: `${tenantGroup}/${tenantVersion}`,
      metadata: {
        name,
        uid: baseUid(seed, '.hangar/retained'),
        resourceVersion: String(identity.modRevision),
        creationTimestamp: createdAt,
      },
      status: { ...(retainedSince === undefined ? {} : { retainedSince }), objects, storedBytes, isMaterialised },
    } as unknown as KubeObject;
  }

  #prefix(path: string): string {
    return tenantPrefix(this.#world.storePrefix, path);
  }

  #tenantKey(path: string): string {
    return `${tenantPrefix(this.#world.storePrefix, rootPath)}${tenantsPrefix}${path}`;
  }
}
