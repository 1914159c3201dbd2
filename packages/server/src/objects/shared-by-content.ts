/**
 * Shares values that are derived from the same content among all control planes of the process: compiled definitions, documents, roles.
 * Values are found by a digest of all their inputs, never by a name that a tenant chose, so a tenant that gets one already had the same
 * content. Shared values must be immutable.
 *
 * A value stays for as long as it is referenced, and beyond that as long as a budget has room for it.
 */

import { hash } from 'node:crypto';
import type { CacheBudget, Held } from './cache-budget.ts';

/** Digest of all inputs of a value, as text. */
export const digestOf = (content: string): string => hash('sha256', content, 'base64');

/** Freezes recursively; a frozen value is assumed to be frozen throughout. */
export function deepFrozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const one of Object.values(value)) deepFrozen(one);
  return value;
}

export interface Keeping<V> {
  readonly budget: CacheBudget;
  bytesOf(value: V): number;
}

export class SharedByContent<V extends object> {
  readonly #known = new Map<string, WeakRef<V>>();
  readonly #forgotten = new FinalizationRegistry<string>((digest) => {
    if (this.#known.get(digest)?.deref() === undefined) this.#known.delete(digest);
  });
  /** Budget items of the values. Their strong references are the only ones. */
  readonly #held = new WeakMap<V, Held>();

  /** Number of known values, for tests. */
  get size(): number {
    return this.#known.size;
  }

  /** Absent `keeping`: the value is dropped when it is no longer referenced. */
  get(digest: string, make: () => V, keeping?: Keeping<V>): V {
    const value = this.#known.get(digest)?.deref() ?? this.#add(digest, make());
    if (keeping) this.#keep(value, keeping);
    return value;
  }

  /** Returns the value if it exists. */
  peek(digest: string): V | undefined {
    return this.#known.get(digest)?.deref();
  }

  /** Releases the budget's reference: the value is dropped when it is no longer referenced. */
  release(value: V): void {
    this.#held.get(value)?.release();
  }

  #add(digest: string, value: V): V {
    this.#known.set(digest, new WeakRef(value));
    this.#forgotten.register(value, digest);
    return value;
  }

  #keep(value: V, { budget, bytesOf }: Keeping<V>): void {
    const known = this.#held.get(value);
    if (known?.isHeld && known.budget === budget) return known.used();
    known?.release();
    const held = budget.hold(() => {}, value);
    this.#held.set(value, held);
    held.resize(bytesOf(value));
  }
}
