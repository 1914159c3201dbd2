/** What a cache keeps. */

import type { ApiObject, Kind } from '@hangar/client';
import type { InformerOptions } from './contract.ts';

export interface KindOptions<T extends ApiObject = ApiObject> extends InformerOptions<T> {
  readonly kind: Kind<T>;
}

export interface CacheOptions {
  /** For kinds that have no options of their own. */
  readonly defaults?: InformerOptions;
  /** For some kinds, instead of the defaults. Make entries with `kindOptions`. */
  readonly byKind?: readonly KindOptions[];
  /** How long a read waits for the first list of its kind. Absent: 30 s. */
  readonly readTimeoutMs?: number;
  /** False: lists in pages, also where a server could tell everything on the watch. */
  readonly watchList?: boolean;
}

/** An entry of `byKind`, checked against the kind's type. */
export const kindOptions = <T extends ApiObject>(kind: Kind<T>, options: InformerOptions<T>): KindOptions =>
  ({ ...options, kind }) as unknown as KindOptions;
