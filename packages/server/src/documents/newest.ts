/**
 * Of everything that a control plane has by a name, the newest only is kept under the budget: what it was before a change is
 * of no use to anybody, unless another control plane shows the same.
 */

import { SharedByContent } from '../objects/shared-by-content.ts';
import type { Keeping } from '../objects/shared-by-content.ts';

/** For all control planes of the process. */
export class SharedVersions<V extends object> {
  readonly #shared = new SharedByContent<V>();
  /** How many control planes have it as their newest. */
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

/** For one control plane. It keeps nothing alive. */
export class Newest<V extends object> {
  readonly #versions: SharedVersions<V>;
  readonly #keeping: Keeping<V>;
  readonly #newest = new Map<string, WeakRef<V>>();

  constructor(versions: SharedVersions<V>, keeping: Keeping<V>) {
    this.#versions = versions;
    this.#keeping = keeping;
  }

  /** How many names there are. */
  get size(): number {
    return this.#newest.size;
  }

  /** When it is there already. */
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

  /** Whatever has another name has gone. */
  retain(names: ReadonlySet<string>): void {
    for (const [name, reference] of this.#newest) {
      if (names.has(name)) continue;
      this.#newest.delete(name);
      const former = reference.deref();
      if (former) this.#versions.leftBy(former);
    }
  }
}
