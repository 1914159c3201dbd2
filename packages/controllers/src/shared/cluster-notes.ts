/**
 * What a controller writes down of control planes while they are told from the beginning, to see in the end what is missing. Kept no
 * longer than that: a control plane in which nothing happens takes no memory.
 */

export class ClusterNotes<T> {
  readonly #make: () => T;
  readonly #notes = new Map<string, T>();

  constructor(make: () => T) {
    this.#make = make;
  }

  of(cluster: string): T {
    let notes = this.#notes.get(cluster);
    if (notes === undefined) this.#notes.set(cluster, (notes = this.#make()));
    return notes;
  }

  /** Forgets them. Undefined: nothing was told. */
  take(cluster: string): T | undefined {
    const notes = this.#notes.get(cluster);
    this.#notes.delete(cluster);
    return notes;
  }

  /** Forgets all of them. */
  takeAll(): [cluster: string, notes: T][] {
    const all = [...this.#notes];
    this.#notes.clear();
    return all;
  }

  /** Of control planes. */
  get size(): number {
    return this.#notes.size;
  }
}
