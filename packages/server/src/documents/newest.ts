/**
 * Keeps only the newest version of each named value of a control plane under the budget. Older versions are dropped, unless another control
 * plane still uses them.
 */

import { SharedByContent } from '../objects/shared-by-content.ts';
import type { Keeping } from '../objects/shared-by-content.ts';

/** Shared by all control planes of the process. */
export class SharedVersions<V extends object> {
  readonly #shared = new SharedByContent<V>();
  /** Number of control planes for which it is the newest. */
  readonly #users = new WeakMap<V, number>();

  peek(digest: string): V | undefined {
    return this.#shared.peek(digest);
  }

  get(digest: string, make: () => V, keeping: Keeping<V>): V {
    return this.#shared.get(digest, make, keeping);
  }

  taken(value: V): void {
    this.#users.set(value, (this.#users.get(value) ?? 0) + 1);
  }

  leftBy(value: V): void {
    const users = (this.#users.get(value) ?? 1) - 1;
    this.#users.set(value, users);
    if (users === 0) this.#shared.release(value);
  }
}

/** Newest values of one control plane. Holds only weak references. */
export class Newest<V extends object> {
  readonly #versions: SharedVersions<V>;
  readonly #keeping: Keeping<V>;
  readonly #newest = new Map<string, WeakRef<V>>();

  constructor(versions: SharedVersions<V>, keeping: Keeping<V>) {
    this.#versions = versions;
    this.#keeping = keeping;
  }

  /** Number of names. */
  get size(): number {
    return this.#newest.size;
  }

  /** Returns the value if it exists. */
  find(name: string, digest: string): V | undefined {
    const known = this.#versions.peek(digest);
    return known && this.get(name, digest, () => known);
  }

  get(name: string, digest: string, make: () => V): V {
    const value = this.#versions.get(digest, make, this.#keeping);
    const former = this.#newest.get(name)?.deref();
    if (former === value) return value;
    this.#newest.set(name, new WeakRef(value));
    this.#versions.taken(value);
    if (former) this.#versions.leftBy(former);
    return value;
  }

  /** Removes all names that are not in the set. */
  retain(names: ReadonlySet<string>): void {
    for (const [name, reference] of this.#newest) {
      if (names.has(name)) continue;
      this.#newest.delete(name);
      const former = reference.deref();
      if (former) this.#versions.leftBy(former);
    }
  }
}
