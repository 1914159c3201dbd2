/**
 * A shared cache distinguishes clusters by name. A cluster that reuses the name of a deleted one must not be opened before the cache has
 * dropped the objects of the deleted one: the stream of objects may lag behind the stream of clusters.
 */

import type { ClusterName } from '../../cluster.ts';

export interface Incarnation {
  readonly uid: string;
  /** True if the cache cannot contain objects of another incarnation. */
  isAlone: boolean;
}

/** Maximum number of deleted clusters to remember; the oldest are dropped. No stream lags that far behind. */
const goneMax = 10_000;

export class Incarnations {
  readonly #live = new Map<ClusterName, Incarnation>();
  readonly #gone = new Map<ClusterName, Incarnation>();

  /** Returns the same incarnation for the same uid, as long as the cluster exists. */
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
