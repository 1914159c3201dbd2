/**
 * Limits concurrent requests, in total and per tenant. Requests that wait for a webhook or for the store hold a seat. A tenant may hold at
 * most as many seats as are free: the first tenant gets half of them, the next half of the rest. A tenant without a seat always gets one,
 * from a reserve of the same size.
 */

/** Seats held by one tenant. */
export interface Holder {
  seats: number;
  mutatingSeats: number;
}

export class Seats {
  readonly #max: number;
  readonly #mutatingMax: number;
  #taken = 0;
  #mutating = 0;

  /** `mutatingMax` seats are for mutating requests; `readOnlyMax` is the number of further seats. */
  constructor(readOnlyMax: number, mutatingMax: number) {
    this.#max = readOnlyMax + mutatingMax;
    this.#mutatingMax = mutatingMax;
  }

  get max(): number {
    return this.#max;
  }

  /** Reports whether even a tenant without a seat gets none. */
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

/** `free`: number of free shared seats; negative if first seats exceed them. */
const mayHaveMore = (held: number, free: number): boolean => held === 0 || held < free;
