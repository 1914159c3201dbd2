/**
 * A list whose items are created one at a time, while it is written: a list of tens of megabytes is never in memory as objects. It may
 * replace an array in a field at the top of an object that is written in pieces.
 */
export class LazyList<T = unknown> {
  readonly length: number;
  readonly #make: (at: number) => T;

  constructor(length: number, make: (at: number) => T) {
    this.length = length;
    this.#make = make;
  }

  static of<T, U>(items: readonly T[], make: (item: T) => U): LazyList<U> {
    return new LazyList(items.length, (at) => make(items[at]!));
  }

  item(at: number): T {
    return this.#make(at);
  }

  toArray(): T[] {
    return Array.from({ length: this.length }, (_, at) => this.#make(at));
  }

  map<U>(change: (item: T) => U): LazyList<U> {
    return new LazyList(this.length, (at) => change(this.#make(at)));
  }
}
