/**
 * Expiring objects, such as events. All objects created in one minute share a lease: one lease per object would cost as much as the object.
 */

import type { Clock } from '@hangar/core';
import type { LeaseId, Store } from '@hangar/store';

const sharedForMs = 60_000;

export class Expiry {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #leases = new Map<number, { lease: Promise<LeaseId>; until: number }>();

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Returns a lease that expires at or shortly after `timeToLiveMs`. */
  lease(timeToLiveMs: number): Promise<LeaseId> {
    const now = this.#clock.monotonicMs();
    const known = this.#leases.get(timeToLiveMs);
    if (known && now < known.until) return known.lease;
    const lease = this.#store.grantLease(timeToLiveMs + sharedForMs).then(({ id }) => id);
    // A failed grant is not cached.
    lease.catch(() => this.#leases.delete(timeToLiveMs));
    this.#leases.set(timeToLiveMs, { lease, until: now + sharedForMs });
    return lease;
  }
}
