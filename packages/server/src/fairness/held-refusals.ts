/**
 * Refusals that are told a little later. Who is told at once and does not listen comes again at once: being refused would
 * be the cheapest way to keep the server busy. So each waits, and a tenant that has many is told only so many at a time, in
 * turns with other tenants; every one that was told may bring the next request.
 *
 * One timer, while there are any. As many as fit are held back, those beyond are told at once.
 */

import type { Clock } from '@hangar/core';

interface Held {
  readonly dueMs: number;
  readonly tell: () => void;
}

const holdMs = 500;
const everyMs = 10;
/** At a time, for one tenant and for all. */
const toldToOneMax = 5;
const toldMax = 20;

export class HeldRefusals {
  readonly #clock: Clock;
  readonly #max: number;
  /** Those of whoever is next come first. */
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
    // As with seats: there is room left for the next tenant.
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

/** First in, first out. */
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
