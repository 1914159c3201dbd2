/** Options of caches. */

import type { ApiObject, Kind } from '@hangar/client';
import type { InformerOptions } from './contract.ts';

/** Informer options of one kind. */
export interface KindOptions<T extends ApiObject = ApiObject> extends InformerOptions<T> {
  readonly kind: Kind<T>;
}

/** Options of a cache. */
export interface CacheOptions {
  /** Informer options of kinds that are not in `byKind`. */
  readonly defaults?: InformerOptions;
  /** Informer options of single kinds, which replace the defaults. Create the entries with `kindOptions`. */
  readonly byKind?: readonly KindOptions[];
  /** Maximum time that a read waits for the first list of its kind. Absent: 30 s. */
  readonly readTimeoutMs?: number;
  /** False: lists in pages, even if the server supports WatchList. Absent: true. */
  readonly watchList?: boolean;
}

/** Returns an entry of `byKind`, checked against the object type of the kind. */
export const kindOptions = <T extends ApiObject>(kind: Kind<T>, options: InformerOptions<T>): KindOptions =>
  ({ ...options, kind }) as unknown as KindOptions;
