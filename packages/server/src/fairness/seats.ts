/**
 * How many requests are under way at once, in all and for each tenant: those that wait for a webhook or for the store hold
 * a seat meanwhile. A tenant may have as many seats as are still free, so that one alone gets half of them, two a third
 * each, and there is always one left for the next who comes.
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

  get areTaken(): boolean {
    return this.#taken >= this.#max;
  }

  isFreeFor({ seats, mutatingSeats }: Holder, isMutating: boolean): boolean {
    if (seats >= this.#max - this.#taken) return false;
    return !isMutating || mutatingSeats < this.#mutatingMax - this.#mutating;
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
