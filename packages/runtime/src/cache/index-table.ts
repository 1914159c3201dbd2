/**
 * One index of one store, in both directions, so that an object is removed from the entries that it was added to, even if the index
 * function returns other values by then.
 *
 *     by value   'node-1' → {pod a, pod b}     'node-2' → pod c         a single object needs no set
 *     values of  pod a → 'node-1'              pod d → ['x', 'y']       a single value needs no array
 */

import type { ApiObject } from '@hangar/client';

export class IndexTable<T extends ApiObject> {
  readonly #byValue = new Map<string, T | Set<T>>();
  readonly #valuesOf = new Map<T, string | readonly string[]>();

  add(object: T, values: readonly string[]): void {
    if (values.length === 0) return;
    if (values.length === 1) {
      this.#valuesOf.set(object, values[0]!);
      this.#put(values[0]!, object);
      return;
    }
    const distinct = [...new Set(values)];
    this.#valuesOf.set(object, distinct);
    for (const value of distinct) this.#put(value, object);
  }

  remove(object: T): void {
    const values = this.#valuesOf.get(object);
    if (values === undefined) return;
    this.#valuesOf.delete(object);
    if (typeof values === 'string') this.#take(values, object);
    else for (const value of values) this.#take(value, object);
  }

  /** Returns a copy, which the caller may keep while the table changes. */
  find(value: string): T[] {
    const found = this.#byValue.get(value);
    if (found === undefined) return [];
    return found instanceof Set ? [...found] : [found];
  }

  has(object: T, value: string): boolean {
    const values = this.#valuesOf.get(object);
    return typeof values === 'string' ? values === value : (values?.includes(value) ?? false);
  }

  #put(value: string, object: T): void {
    const found = this.#byValue.get(value);
    if (found === undefined) this.#byValue.set(value, object);
    else if (found instanceof Set) found.add(object);
    else this.#byValue.set(value, new Set([found, object]));
  }

  #take(value: string, object: T): void {
    const found = this.#byValue.get(value);
    if (!(found instanceof Set)) this.#byValue.delete(value);
    else if (found.delete(object) && found.size === 0) this.#byValue.delete(value);
  }
}
