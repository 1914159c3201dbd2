/**
 * Expires leases that were not renewed. Deadlines are in memory: after a restart every lease gets its full time again, as in etcd after a
 * change of leader. One timer serves all leases, and none runs when there are none.
 */

import type { Clock, Timer } from '@hangar/core';
import type { Lease, LeaseId } from '../contract.ts';
import { StoreError } from '../errors.ts';

/** Expiry is checked no more often than this, so that ten thousand leases cost one scan, not ten thousand. */
const granularityMs = 100;
const retryMs = 1_000;

export class LeaseKeeper {
  readonly #clock: Clock;
  readonly #revoke: (id: LeaseId) => Promise<unknown>;
  readonly #deadlines = new Map<LeaseId, { ttlMs: number; deadlineMs: number }>();
  #timer: Timer | undefined;
  #timerMs = Infinity;
  #stopped = false;

  constructor(clock: Clock, revoke: (id: LeaseId) => Promise<unknown>) {
    this.#clock = clock;
    this.#revoke = revoke;
  }

  keep(lease: Lease, remainingMs = lease.ttlMs): void {
    if (this.#stopped) return; // granted, or failed to expire, while the store was closing
    const deadlineMs = this.#clock.monotonicMs() + remainingMs;
    this.#deadlines.set(lease.id, { ttlMs: lease.ttlMs, deadlineMs });
    this.#wakeAt(deadlineMs);
  }

  renew(id: LeaseId): void {
    const kept = this.#kept(id);
    kept.deadlineMs = this.#clock.monotonicMs() + kept.ttlMs;
  }

  /** Not negative: a lease expires up to `granularityMs` after its deadline. */
  remainingMs(id: LeaseId): number {
    return Math.max(0, this.#kept(id).deadlineMs - this.#clock.monotonicMs());
  }

  forget(id: LeaseId): void {
    this.#deadlines.delete(id);
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#deadlines.clear();
  }

  #kept(id: LeaseId): { ttlMs: number; deadlineMs: number } {
    const kept = this.#deadlines.get(id);
    if (!kept) throw new StoreError('LeaseNotFound', `lease ${id} not found: it expired, was revoked or never existed`);
    return kept;
  }

  #wakeAt(atMs: number): void {
    if (atMs >= this.#timerMs) return;
    this.#timer?.cancel();
    this.#timerMs = atMs;
    const delayMs = Math.max(granularityMs, atMs - this.#clock.monotonicMs());
    // System timers take 2^31 ms at most; waking up early only means another check.
    this.#timer = this.#clock.after(Math.min(delayMs, 2 ** 31 - 1), () => this.#expire());
  }

  #expire(): void {
    this.#timerMs = Infinity;
    const nowMs = this.#clock.monotonicMs();
    let nextMs = Infinity;
    for (const [id, kept] of this.#deadlines) {
      if (kept.deadlineMs > nowMs) {
        nextMs = Math.min(nextMs, kept.deadlineMs);
        continue;
      }
      this.#deadlines.delete(id);
      // A full disk refuses even this: the lease stays until it works, and can still be renewed.
      this.#revoke(id).catch((error: StoreError) => {
        if (error.code !== 'LeaseNotFound' && error.code !== 'Closed') this.keep({ id, ttlMs: kept.ttlMs }, retryMs);
      });
    }
    if (nextMs < Infinity) this.#wakeAt(nextMs);
  }
}
