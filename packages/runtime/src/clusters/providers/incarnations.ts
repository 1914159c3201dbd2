/**
 * Clusters that share a cache are told apart in it by their names. One that comes under the name of another that is gone must not be
 * opened before the cache has left the other behind: the stream of objects may be later than the one that said so.
 */

import type { ClusterName } from '../../cluster.ts';

export interface Incarnation {
  readonly uid: string;
  /** Nothing in the cache can be of another one. */
  isAlone: boolean;
}

/** Those that are gone for longest are forgotten beyond this: no stream is that late. */
const goneMax = 10_000;

export class Incarnations {
  readonly #live = new Map<ClusterName, Incarnation>();
  readonly #gone = new Map<ClusterName, Incarnation>();

  /** The same for the same uid, as long as it is there. */
  seen(name: ClusterName, uid: string): Incarnation {
    const before = this.#live.get(name) ?? this.#gone.get(name);
    this.#gone.delete(name);
    const now = before?.uid === uid ? before : { uid, isAlone: before === undefined };
    this.#live.set(name, now);
    return now;
  }

  gone(name: ClusterName): void {
    const last = this.#live.get(name);
    if (!last) return;
    this.#live.delete(name);
    this.#gone.set(name, last);
    if (this.#gone.size <= goneMax) return;
    const [oldest] = this.#gone.keys();
    this.#gone.delete(oldest!);
  }
}
