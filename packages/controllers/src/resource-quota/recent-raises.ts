/**
 * What was added to a quota's usage lately. Admission charges a quota before it stores the object, so a count between the two does not
 * see what was charged; if it were given back, the quota would have room for something that is there in a moment.
 *
 *     ── charged ──┬── counted here: one too few ──┬── stored ──▶
 *                  └───────── in flight ───────────┘
 *
 * Everything that was added within the last `windowMs` (and not longer than twice that) is taken for in flight.
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

  /** The quota's usage as it has become. The first one is where it begins: nobody knows how it came to that. */
  told(used: Amounts, nowMs: number): void {
    this.#turn(nowMs);
    if (this.#used) addInto(this.#now, raisesOf(this.#used, used));
    this.#used = used;
  }

  /** What may be in flight of a usage that was read just now, and of which perhaps nothing was told yet. */
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
