/**
 * What is made of the same content is made once, for all control planes of the process: compiled definitions, documents,
 * roles. Things are found by a digest of everything that they are made of, never by a name that a tenant chose; so whoever
 * gets one had the same content already, and learns nothing. What is shared must be immutable.
 *
 * A thing stays for as long as somebody uses it, and beyond that as long as a budget has room for it.
 */

import { hash } from 'node:crypto';
import type { CacheBudget, Held } from './cache-budget.ts';

/** Of all that a thing is made of, as text. */
export const digestOf = (content: string): string => hash('sha256', content, 'base64');

/** With everything in it; what is frozen already is taken to be so throughout. */
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
  /** How those are held that a budget keeps. Its strong reference is the only one. */
  readonly #held = new WeakMap<V, Held>();

  /** How many are known, for tests. */
  get size(): number {
    return this.#known.size;
  }

  /** Absent `keeping`: it goes when nobody uses it any more. */
  get(digest: string, make: () => V, keeping?: Keeping<V>): V {
    const value = this.#known.get(digest)?.deref() ?? this.#add(digest, make());
    if (keeping) this.#keep(value, keeping);
    return value;
  }

  /** What is there already. */
  peek(digest: string): V | undefined {
    return this.#known.get(digest)?.deref();
  }

  /** The budget need not keep it any more: it goes when nobody uses it. */
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
