/** Collects the events of a WatchList before its bookmark: initial objects and changes to them. */

import type { ApiObject } from '@hangar/client';
import { clusterOf } from './cluster-of.ts';

export class InitialEvents<Kept> {
  readonly #objects = new Map<string, Kept>();

  /** `kept` undefined: the object does not exist. */
  set(key: string, kept: Kept | undefined): void {
    if (kept === undefined) this.#objects.delete(key);
    else this.#objects.set(key, kept);
  }

  /** Returns a key that is unique across all clusters. Call it before the object is transformed. */
  static keyOf(object: ApiObject): string {
    const { namespace = '', name } = object.metadata;
    return `${clusterOf(object) ?? ''}/${namespace}/${name}`;
  }

  get objects(): Iterable<Kept> {
    return this.#objects.values();
  }
}
