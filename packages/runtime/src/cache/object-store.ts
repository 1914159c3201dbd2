/**
 * Objects of one kind in one cluster, by namespace and then by name, so that no keys are built and a namespace can be listed directly. Also
 * maintains the indexes.
 *
 * Reading during changes is safe: an iteration returns every object at most once, in its newest version or not at all.
 */

import type { ApiObject } from '@hangar/client';
import { IndexTable } from './index-table.ts';
import { unknownIndex } from './indexes.ts';
import type { Indexes } from './indexes.ts';

export class ObjectStore<T extends ApiObject> {
  readonly #indexes: Indexes<T>;
  /** Cluster-scoped objects have the namespace ''. */
  readonly #namespaces = new Map<string, Map<string, T>>();
  /** Created with the first object. */
  #tables: Map<string, IndexTable<T>> | undefined;
  #size = 0;

  constructor(indexes: Indexes<T>) {
    this.#indexes = indexes;
  }

  get size(): number {
    return this.#size;
  }

  get(namespace: string | undefined, name: string): T | undefined {
    return this.#namespaces.get(namespace ?? '')?.get(name);
  }

  /** Returns the replaced object. */
  put(object: T): T | undefined {
    const { namespace = '', name = '' } = object.metadata;
    let names = this.#namespaces.get(namespace);
    if (names === undefined) this.#namespaces.set(namespace, (names = new Map()));
    const before = names.get(name);
    names.set(name, object);
    if (before === undefined) this.#size++;
    for (const index of this.#indexes.names) {
      const table = this.#table(index);
      if (before !== undefined) table.remove(before);
      table.add(object, this.#indexes.valuesOf(index, object));
    }
    return before;
  }

  /** Returns the deleted object. */
  delete(namespace: string | undefined, name: string): T | undefined {
    const names = this.#namespaces.get(namespace ?? '');
    const before = names?.get(name);
    if (names === undefined || before === undefined) return undefined;
    names.delete(name);
    if (names.size === 0) this.#namespaces.delete(namespace ?? '');
    this.#size--;
    if (this.#tables) for (const table of this.#tables.values()) table.remove(before);
    return before;
  }

  *all(namespace?: string): Generator<T, void, void> {
    if (namespace !== undefined) {
      const names = this.#namespaces.get(namespace);
      if (names) yield* names.values();
      return;
    }
    for (const names of this.#namespaces.values()) yield* names.values();
  }

  /** Throws `UnknownIndex`. */
  byIndex(index: string, value: string): T[] {
    if (!this.#indexes.has(index)) throw unknownIndex(index);
    return this.#tables?.get(index)?.find(value) ?? [];
  }

  hasValue(object: T, index: string, value: string): boolean {
    if (!this.#indexes.has(index)) throw unknownIndex(index);
    return this.#tables?.get(index)?.has(object, value) ?? false;
  }

  /** Called after an index was added to the kind. */
  fillIndex(index: string): void {
    for (const object of this.all()) this.#table(index).add(object, this.#indexes.valuesOf(index, object));
  }

  #table(index: string): IndexTable<T> {
    const tables = (this.#tables ??= new Map());
    let table = tables.get(index);
    if (table === undefined) tables.set(index, (table = new IndexTable()));
    return table;
  }
}
