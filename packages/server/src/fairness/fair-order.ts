/**
 * Who is next: whoever has been given least. Everybody has a rank, which grows by what he was given, divided by his weight;
 * the lowest is first. Who comes back after a pause begins where the others are now, so that a pause is no credit:
 *
 *     now = 40      A 40   B 43            C comes, with rank 12 from long ago
 *     now = 40      A 40   C 40   B 43     A is given 5
 *     now = 40      C 40   B 43   A 45     C is next
 *
 * A heap: thousands may wait.
 */

export interface Ranked {
  rank: number;
  /** Where it is in its order; −1: it is in none. */
  position: number;
  /** What it is given counts less, the more it weighs; infinite: it is always first. */
  readonly weight: number;
}

export class FairOrder<T extends Ranked> {
  readonly #heap: T[] = [];
  #now = 0;

  get size(): number {
    return this.#heap.length;
  }

  /** Where those are who were given their due. */
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
   * The first for whom `can` is true. Nothing changes by being asked, and `can` must change nothing: it may be asked of
   * several, in any order. Who is chosen is told to `serve`.
   */
  first(can: (one: T) => boolean): T | undefined {
    return this.#firstFrom(0, can, undefined);
  }

  /** It is its turn now. */
  serve(one: T): void {
    if (one.weight !== Infinity) this.#now = Math.max(this.#now, one.rank);
  }

  /** Whether it is in the order or not. A negative amount is given back, but never becomes a credit: ranks may begin even since. */
  charge(one: T, amount: number): void {
    one.rank = Math.max(this.#now, Math.max(one.rank, this.#now) + amount / one.weight);
    if (one.position < 0) return;
    if (amount < 0) this.#up(one);
    else this.#down(one);
  }

  /** In the part of the heap that hangs from here, in which nobody is before its top. */
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
