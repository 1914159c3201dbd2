/**
 * State that a controller records for each control plane during the initial delivery, to find missing objects afterwards. It is dropped
 * then: an idle control plane takes no memory.
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

  /** Removes and returns the notes. Undefined: nothing was delivered. */
  take(cluster: string): T | undefined {
    const notes = this.#notes.get(cluster);
    this.#notes.delete(cluster);
    return notes;
  }

  /** Removes and returns all notes. */
  takeAll(): [cluster: string, notes: T][] {
    const all = [...this.#notes];
    this.#notes.clear();
    return all;
  }

  /** Number of control planes. */
  get size(): number {
    return this.#notes.size;
  }
}
