/**
 * All tenants that there are, as the store has them. A tenant is a few hundred bytes here, whatever it holds; what else it
 * costs, it costs while it is used.
 */

import type { Clock } from '@hangar/core';
import type { Revision, Store } from '@hangar/store';
import { StoreFollower } from '../objects/store-follower.ts';
import { tenantKey, tenantOf } from './tenant.ts';
import type { Tenant } from './tenant.ts';

export interface TenantsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly storePrefix: string;
  /** Told of every tenant that changed or went; `now` is absent when it went. */
  readonly onChange: (before: Tenant, now: Tenant | undefined) => void;
}

export class Tenants {
  readonly #byPath = new Map<string, Tenant>();
  /** Of several tenants that name the same host, as only a race can make them, the oldest has it: on every server, always. */
  readonly #byHost = new Map<string, Tenant[]>();
  readonly #follower: StoreFollower;
  readonly #onChange: TenantsOptions['onChange'];

  constructor({ store, clock, storePrefix, onChange }: TenantsOptions) {
    const prefix = tenantKey(storePrefix, '');
    this.#onChange = onChange;
    this.#follower = new StoreFollower({ store, clock }, prefix, {
      put: (entry) => {
        const path = entry.key.slice(prefix.length);
        try {
          this.#put(path, tenantOf(entry));
        } catch {
          // Others wrote it, and it is no tenant.
          this.#remove(path);
        }
      },
      delete: (key) => this.#remove(key.slice(prefix.length)),
      retain: (keys) => {
        for (const path of this.#byPath.keys()) if (!keys.has(`${prefix}${path}`)) this.#remove(path);
      },
    });
  }

  /** Resolves when all that are stored are known. */
  start(): Promise<void> {
    return this.#follower.start();
  }

  close(): void {
    this.#follower.close();
  }

  /** Resolves when what was written up to this revision is known. */
  reached(revision: Revision): Promise<void> {
    return this.#follower.reached(revision);
  }

  find(path: string): Tenant | undefined {
    return this.#byPath.get(path);
  }

  /** In lower case, without a port. */
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
  }

  #remove(path: string): void {
    const before = this.#byPath.get(path);
    if (!before) return;
    this.#byPath.delete(path);
    this.#forgetHosts(before);
    this.#onChange(before, undefined);
  }

  #forgetHosts(tenant: Tenant): void {
    for (const host of tenant.spec.hosts ?? []) {
      const left = (this.#byHost.get(host) ?? []).filter((one) => one !== tenant);
      if (left.length > 0) this.#byHost.set(host, left);
      else this.#byHost.delete(host);
    }
  }
}
