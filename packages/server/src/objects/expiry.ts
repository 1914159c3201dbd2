/**
 * Objects that go away by themselves, such as events. A lease a minute is shared by all that begin in it: one lease an
 * object would cost as much as the object.
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

  /** A lease that ends not before `timeToLiveMs`, and not much later. */
  lease(timeToLiveMs: number): Promise<LeaseId> {
    const now = this.#clock.monotonicMs();
    const known = this.#leases.get(timeToLiveMs);
    if (known && now < known.until) return known.lease;
    const lease = this.#store.grantLease(timeToLiveMs + sharedForMs).then(({ id }) => id);
    // A lease that could not be had is not kept.
    lease.catch(() => this.#leases.delete(timeToLiveMs));
    this.#leases.set(timeToLiveMs, { lease, until: now + sharedForMs });
    return lease;
  }
}
