/** What a WatchList tells before its bookmark: objects, and what happened to them meanwhile. */

import type { ApiObject } from '@hangar/client';
import { clusterOf } from './cluster-of.ts';

export class InitialEvents<Kept> {
  readonly #objects = new Map<string, Kept>();

  /** `kept` undefined: it is not there. */
  set(key: string, kept: Kept | undefined): void {
    if (kept === undefined) this.#objects.delete(key);
    else this.#objects.set(key, kept);
  }

  /** Unique among all clusters. Before anything is made of the object. */
  static keyOf(object: ApiObject): string {
    const { namespace = '', name } = object.metadata;
    return `${clusterOf(object) ?? ''}/${namespace}/${name}`;
  }

  get objects(): Iterable<Kept> {
    return this.#objects.values();
  }
}
