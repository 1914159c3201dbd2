/** Index of all stored tenants. Each takes a few hundred bytes, regardless of its data; other costs arise only while it is open. */

import type { Clock } from '@hangar/core';
import type { Revision, Store } from '@hangar/store';
import { StoreFollower } from '../objects/store-follower.ts';
import { tenantKey, tenantOf } from './tenant.ts';
import type { Tenant } from './tenant.ts';

export interface TenantsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly storePrefix: string;
  /** Called for every tenant that changed or was deleted; `now` is absent after a deletion. */
  readonly onChange: (before: Tenant, now: Tenant | undefined) => void;
}

export type TenantListener = (path: string, tenant: Tenant | undefined) => void;

export class Tenants {
  readonly #byPath = new Map<string, Tenant>();
  /** If several tenants name the same host, which only a race can cause, the oldest has it on every server. */
  readonly #byHost = new Map<string, Tenant[]>();
  readonly #follower: StoreFollower;
  readonly #onChange: TenantsOptions['onChange'];
  readonly #listeners = new Set<TenantListener>();

  constructor({ store, clock, storePrefix, onChange }: TenantsOptions) {
    const prefix = tenantKey(storePrefix, '');
    this.#onChange = onChange;
    this.#follower = new StoreFollower({ store, clock }, prefix, {
      put: (entry) => {
        const path = entry.key.slice(prefix.length);
        try {
          this.#put(path, tenantOf(entry));
        } catch {
          // Written by another program, and not a valid Tenant.
          this.#remove(path);
        }
      },
      delete: (key) => this.#remove(key.slice(prefix.length)),
      retain: (keys) => {
        for (const path of this.#byPath.keys()) if (!keys.has(`${prefix}${path}`)) this.#remove(path);
      },
    });
  }

  /** Resolves when all stored tenants are loaded. */
  start(): Promise<void> {
    return this.#follower.start();
  }

  close(): void {
    this.#follower.close();
  }

  /** Resolves when the index includes all writes up to this revision. */
  reached(revision: Revision): Promise<void> {
    return this.#follower.reached(revision);
  }

  /** Calls the listener for every stored tenant and for every later change; without a tenant after a deletion. Returns a function that ends it. */
  follow(listener: TenantListener): () => void {
    this.#listeners.add(listener);
    for (const [path, tenant] of this.#byPath) listener(path, tenant);
    return () => void this.#listeners.delete(listener);
  }

  find(path: string): Tenant | undefined {
    return this.#byPath.get(path);
  }

  /** `host`: in lower case, without a port. */
  findByHost(host: string): Tenant | undefined {
    return this.#byHost.get(host)?.[0];
  }

  get all(): Iterable<Tenant> {
    return this.#byPath.values();
  }

  get size(): number {
    return this.#byPath.size;
  }

  #put(path: string, tenant: Tenant): void {
    const before = this.#byPath.get(path);
    if (before) this.#forgetHosts(before);
    this.#byPath.set(path, tenant);
    for (const host of tenant.spec.hosts ?? []) {
      const known = this.#byHost.get(host) ?? [];
      this.#byHost.set(
        host,
        [...known, tenant].sort((a, b) => a.madeAt - b.madeAt),
      );
    }
    if (before) this.#onChange(before, tenant);
    for (const listener of this.#listeners) listener(path, tenant);
  }

  #remove(path: string): void {
    const before = this.#byPath.get(path);
    if (!before) return;
    this.#byPath.delete(path);
    this.#forgetHosts(before);
    this.#onChange(before, undefined);
    for (const listener of this.#listeners) listener(path, undefined);
  }

  #forgetHosts(tenant: Tenant): void {
    for (const host of tenant.spec.hosts ?? []) {
      const left = (this.#byHost.get(host) ?? []).filter((one) => one !== tenant);
      if (left.length > 0) this.#byHost.set(host, left);
      else this.#byHost.delete(host);
    }
  }
}
