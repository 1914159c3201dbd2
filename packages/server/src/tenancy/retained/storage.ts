/**
 * Finds the data of deleted tenants in the store. One read per tenant finds the next range, whatever its size:
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

export class RetainedStorage implements KindStorage {
  readonly #world: TenantWorld;

  constructor(world: TenantWorld) {
    this.#world = world;
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
      const [first] = (await store.range(range, { limit: 1, keysOnly: true })).entries;
      if (!first) return { items, version };
      const path = first.key.slice(clusters.length).split('/', 1)[0]!;
      const found = await this.get('', path);
      if (found) items.push(found);
      start = prefixRange(this.#prefix(path)).end!;
      await breathe(clock);
    }
  }

  /** In one transaction with the conditions that the data is that of `expected` and that no tenant has taken it over. */
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
