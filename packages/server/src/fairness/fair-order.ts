/**
 * Orders elements by the service they received: the element with the lowest rank is first. A rank grows by the amount received, divided by
 * the weight. An element that returns after a pause starts at the current rank, so that a pause gives no credit:
 *
 *     now = 40      A 40   B 43            C is added, with an old rank of 12
 *     now = 40      A 40   C 40   B 43     A is charged 5
 *     now = 40      C 40   B 43   A 45     C is next
 *
 * Implemented as a heap, for thousands of elements.
 */

export interface Ranked {
  rank: number;
  /** Index in the heap; −1: not in an order. */
  position: number;
  /** Charges are divided by the weight; infinite: always first. */
  readonly weight: number;
}

export class FairOrder<T extends Ranked> {
  readonly #heap: T[] = [];
  #now = 0;

  get size(): number {
    return this.#heap.length;
  }

  /** Rank at which new elements start. */
  get now(): number {
    return this.#now;
  }

  get all(): readonly T[] {
    return this.#heap;
  }

  add(one: T): void {
    if (one.position >= 0) return;
    one.rank = Math.max(one.rank, this.#now);
    one.position = this.#heap.length;
    this.#heap.push(one);
    this.#up(one);
  }

  remove(one: T): void {
    if (one.position < 0) return;
    const last = this.#heap.pop()!;
    const at = one.position;
    one.position = -1;
    if (last === one) return;
    last.position = at;
    this.#heap[at] = last;
    this.#up(last);
    this.#down(last);
  }

  /**
   * Returns the first element for which `can` is true. Has no side effects, and `can` must have none: it may be called for several
   * elements, in any order. The caller passes the chosen element to `serve`.
   */
  first(can: (one: T) => boolean): T | undefined {
    return this.#firstFrom(0, can, undefined);
  }

  /** Marks the element as served, which advances `now`. */
  serve(one: T): void {
    if (one.weight !== Infinity) this.#now = Math.max(this.#now, one.rank);
  }

  /** Also for elements outside the order. A negative amount is a refund that never becomes a credit: ranks may have been reset since. */
  charge(one: T, amount: number): void {
    one.rank = Math.max(this.#now, Math.max(one.rank, this.#now) + amount / one.weight);
    if (one.position < 0) return;
    if (amount < 0) this.#up(one);
    else this.#down(one);
  }

  /** Searches the subtree of the heap at this index; no element in it precedes its root. */
  #firstFrom(at: number, can: (one: T) => boolean, found: T | undefined): T | undefined {
    const one = this.#heap[at];
    if (!one || (found && !isBefore(one, found))) return found;
    if (can(one)) return one;
    return this.#firstFrom(2 * at + 2, can, this.#firstFrom(2 * at + 1, can, found));
  }

  #up(one: T): void {
    for (;;) {
      const parent = this.#heap[(one.position - 1) >> 1];
      if (one.position === 0 || !isBefore(one, parent!)) return;
      this.#swap(one, parent!);
    }
  }

  #down(one: T): void {
    for (;;) {
      const left = this.#heap[2 * one.position + 1];
      const right = this.#heap[2 * one.position + 2];
      const child = right && isBefore(right, left!) ? right : left;
      if (!child || !isBefore(child, one)) return;
      this.#swap(one, child);
    }
  }

  #swap(a: T, b: T): void {
    [a.position, b.position] = [b.position, a.position];
    this.#heap[a.position] = a;
    this.#heap[b.position] = b;
  }
}

function isBefore(a: Ranked, b: Ranked): boolean {
  if (a.weight === Infinity || b.weight === Infinity) return a.weight === Infinity && b.weight !== Infinity;
  return a.rank < b.rank;
}
