/**
 * Recent increases of the usage of a quota. Admission charges a quota before it stores the object, so a count in between does not include
 * the object; releasing the charge would make room for an object that is stored in a moment.
 *
 *     ── charged ──┬── counted here: one too few ──┬── stored ──▶
 *                  └───────── in flight ───────────┘
 *
 * All increases within the last `windowMs` (and at most twice that) count as in flight.
 */

import { addInto, difference, zero } from '@hangar/api/quota';
import type { Amount, Amounts } from '@hangar/api/quota';

export class RecentRaises {
  readonly #windowMs: number;
  #used: Amounts | undefined;
  #now = new Map<string, Amount>();
  #before = new Map<string, Amount>();
  #turnedMs = -Infinity;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** Called with the new usage of the quota. The first call is the baseline: its increases are unknown. */
  told(used: Amounts, nowMs: number): void {
    this.#turn(nowMs);
    if (this.#used) addInto(this.#now, raisesOf(this.#used, used));
    this.#used = used;
  }

  /** Returns the part of a usage that may be in flight. The usage was read just now, and may be newer than the last `told`. */
  inFlight(used: Amounts, nowMs: number): Amounts {
    this.#turn(nowMs);
    const all = new Map(this.#now);
    addInto(all, this.#before);
    if (this.#used) addInto(all, raisesOf(this.#used, used));
    return all;
  }

  #turn(nowMs: number): void {
    if (nowMs - this.#turnedMs < this.#windowMs) return;
    this.#before = nowMs - this.#turnedMs < 2 * this.#windowMs ? this.#now : new Map();
    this.#now = new Map();
    this.#turnedMs = nowMs;
  }
}

function raisesOf(before: Amounts, after: Amounts): Amounts {
  const raises = [...after].map(([name, amount]) => [name, difference(amount, before.get(name) ?? zero)] as const);
  return new Map(raises.filter(([, { nanos }]) => nanos > 0n));
}
