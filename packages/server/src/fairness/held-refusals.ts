/**
 * Delays rejections. A client that ignores an immediate rejection retries at once, so immediate rejections would be the cheapest way to
 * keep the server busy. Each rejection is therefore delayed, and their rate is limited per tenant and in total, in turns between tenants,
 * since each one sent may cause the next request.
 *
 * One timer runs while there are any. Rejections beyond the limit are sent at once.
 */

import type { Clock } from '@hangar/core';

interface Held {
  readonly dueMs: number;
  readonly tell: () => void;
}

const holdMs = 500;
const everyMs = 10;
/** Limits per interval, for one tenant and for all. */
const toldToOneMax = 5;
const toldMax = 20;

export class HeldRefusals {
  readonly #clock: Clock;
  readonly #max: number;
  /** In the order of service: the next tenant comes first. */
  readonly #byTenant = new Map<object, Queue>();
  #size = 0;
  #isTimed = false;

  constructor(clock: Clock, max: number) {
    this.#clock = clock;
    this.#max = max;
  }

  get size(): number {
    return this.#size;
  }

  hold(tenant: object, tell: () => void): void {
    let queue = this.#byTenant.get(tenant);
    // As with seats: leaves room for further tenants.
    if ((queue?.size ?? 0) >= this.#max - this.#size) return tell();
    if (!queue) this.#byTenant.set(tenant, (queue = new Queue()));
    queue.push({ dueMs: this.#clock.monotonicMs() + holdMs, tell });
    this.#size++;
    this.#wait();
  }

  #wait(): void {
    if (this.#isTimed || this.#size === 0) return;
    this.#isTimed = true;
    this.#clock.after(everyMs, () => {
      this.#isTimed = false;
      this.#tell();
      this.#wait();
    });
  }

  #tell(): void {
    const nowMs = this.#clock.monotonicMs();
    let told = 0;
    const tenants = [...this.#byTenant];
    for (const [tenant, queue] of tenants) {
      for (let own = 0; own < toldToOneMax && told < toldMax; own++, told++) {
        const due = queue.takeUntil(nowMs);
        if (!due) break;
        this.#size--;
        due.tell();
      }
      this.#byTenant.delete(tenant);
      if (queue.size > 0) this.#byTenant.set(tenant, queue);
      if (told >= toldMax) return;
    }
  }
}

/** FIFO queue. */
class Queue {
  #all: Held[] = [];
  #next = 0;

  get size(): number {
    return this.#all.length - this.#next;
  }

  push(one: Held): void {
    this.#all.push(one);
  }

  takeUntil(nowMs: number): Held | undefined {
    const first = this.#all[this.#next];
    if (!first || first.dueMs > nowMs) return undefined;
    if (++this.#next >= 1_024) {
      this.#all = this.#all.slice(this.#next);
      this.#next = 0;
    }
    return first;
  }
}
