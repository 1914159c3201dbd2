/**
 * How many requests are under way at once, in all and for each tenant: those that wait for a webhook or for the store hold
 * a seat meanwhile. A tenant may have as many seats as are still free, so that one alone gets half of them, and the next half
 * of the rest. That ends with a few tenants: whoever has none gets one even then, from as many again that are kept for this.
 */

/** What one tenant has. */
export interface Holder {
  seats: number;
  mutatingSeats: number;
}

export class Seats {
  readonly #max: number;
  readonly #mutatingMax: number;
  #taken = 0;
  #mutating = 0;

  /** `mutatingMax` are for requests that change something; there are so many seats more for others. */
  constructor(readOnlyMax: number, mutatingMax: number) {
    this.#max = readOnlyMax + mutatingMax;
    this.#mutatingMax = mutatingMax;
  }

  get max(): number {
    return this.#max;
  }

  /** Nobody gets one now, not even who has none. */
  get areTaken(): boolean {
    return this.#taken >= 2 * this.#max;
  }

  isFreeFor({ seats, mutatingSeats }: Holder, isMutating: boolean): boolean {
    if (this.areTaken || !mayHaveMore(seats, this.#max - this.#taken)) return false;
    return !isMutating || mayHaveMore(mutatingSeats, this.#mutatingMax - this.#mutating);
  }

  take(holder: Holder, isMutating: boolean): void {
    this.#count(holder, isMutating, 1);
  }

  leave(holder: Holder, isMutating: boolean): void {
    this.#count(holder, isMutating, -1);
  }

  #count(holder: Holder, isMutating: boolean, change: 1 | -1): void {
    this.#taken += change;
    holder.seats += change;
    if (!isMutating) return;
    this.#mutating += change;
    holder.mutatingSeats += change;
  }
}

/** `free` of the seats that are shared: fewer than none, when others had their first ones beyond them. */
const mayHaveMore = (held: number, free: number): boolean => held === 0 || held < free;
