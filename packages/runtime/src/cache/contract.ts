/**
 * A cluster's objects, kept up to date in memory. What is read from it is shared: nobody may change it (`structuredClone` first;
 * the delegating client hands out copies).
 */

import type { ApiObject, Kind, ObjectKey, Reader } from '@hangar/client';

export interface InformerOptions<T extends ApiObject = ApiObject> {
  /** Absent: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Only names, labels, annotations, owners: a fraction of the memory. */
  readonly metadataOnly?: boolean;
  /** What is kept of an object; undefined: nothing, as if it did not exist. Absent: all of it. May change what it is given. */
  readonly transform?: (object: T) => T | undefined;
}

export interface EventHandler<T extends ApiObject = ApiObject> {
  /** `isInitial`: it was there before the handler, or before the cache; not news. */
  onAdd?(object: T, isInitial: boolean): void;
  /** Also when nothing but the resourceVersion changed, or after a list that followed a lost watch. */
  onUpdate?(before: T, after: T): void;
  /** The last that is known of it: a deletion may have been missed. */
  onDelete?(object: T): void;
}

export interface Registration {
  /** Everything that was there at first was told. */
  readonly hasSynced: boolean;
  synced(signal?: AbortSignal): Promise<void>;
  remove(): void;
}

/** Values under which an object is found; called once for each version of an object. */
export type IndexFunction<T extends ApiObject> = (object: T) => readonly string[];

export interface Informer<T extends ApiObject = ApiObject> {
  readonly kind: Kind<T>;
  readonly hasSynced: boolean;
  /** Resolves when the first list is here; rejects with `Aborted`. */
  synced(signal?: AbortSignal): Promise<void>;
  /** A handler that throws is logged and called again for the next event. */
  addHandler(handler: EventHandler<T>): Registration;
  get(key: ObjectKey): T | undefined;
  /** In no order. */
  all(namespace?: string): Iterable<T>;
  byIndex(index: string, value: string): Iterable<T>;
}

export interface CacheListOptions {
  readonly namespace?: string;
  /** One that was added before; the objects that it gave this value. */
  readonly index?: { readonly name: string; readonly value: string };
}

export interface Cache extends Reader {
  /** Made when it is asked for first; runs once the cache does. */
  informer<T extends ApiObject>(kind: Kind<T>): Informer<T>;
  /** Also later: what is there is indexed then. */
  addIndex<T extends ApiObject>(kind: Kind<T>, name: string, values: IndexFunction<T>): void;
  /** Every informer that exists now; rejects with `Aborted`, or `CacheNotSynced` by then. */
  synced(signal?: AbortSignal): Promise<void>;
  /** Until the signal. */
  start(signal: AbortSignal): Promise<void>;
}
