/**
 * Leases of a replica. Each lease of the source has one here, granted with the remaining time. It is renewed while frames arrive, because the
 * source decides when an entry expires: an entry outlives its time by the duration of the replication at most, and no entry ends early.
 */

import type { LeaseId, Store } from '../contract.ts';
import type { StoreError } from '../errors.ts';
import { leaseTtlMinMs } from '../limits.ts';
import type { ReplicaLease } from './frames.ts';

export class ReplicaLeases {
  readonly #store: Store;
  /** By the id at the source. */
  readonly #granted = new Map<LeaseId, { readonly id: LeaseId; readonly keys: Set<string> }>();
  readonly #byKey = new Map<string, LeaseId>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Returns the lease for an entry. Call it before the entry is written. */
  async attach(key: string, lease: ReplicaLease | undefined): Promise<LeaseId | undefined> {
    this.detach(key);
    if (!lease) return undefined;
    let granted = this.#granted.get(lease.id);
    if (!granted) {
      const { id } = await this.#store.grantLease(Math.max(leaseTtlMinMs, lease.ttlMs));
      this.#granted.set(lease.id, (granted = { id, keys: new Set() }));
    }
    granted.keys.add(key);
    this.#byKey.set(key, lease.id);
    return granted.id;
  }

  /** Records that an entry has no lease. */
  detach(key: string): void {
    const sourceId = this.#byKey.get(key);
    if (sourceId === undefined) return;
    this.#byKey.delete(key);
    const granted = this.#granted.get(sourceId);
    granted?.keys.delete(key);
    // A lease without keys expires by itself.
    if (granted?.keys.size === 0) this.#granted.delete(sourceId);
  }

  async renew(): Promise<void> {
    for (const [sourceId, { id, keys }] of this.#granted) {
      try {
        await this.#store.renewLease(id);
      } catch (error) {
        if ((error as StoreError).code !== 'LeaseNotFound') throw error;
        this.#granted.delete(sourceId);
        for (const key of keys) this.#byKey.delete(key);
      }
    }
  }
}
