/**
 * A cluster's objects, kept up to date in memory. What is read from it is shared: nobody may change it (`cloneJson` first; the
 * delegating client hands out copies).
 */

import type { ApiObject, GetOptions, Kind, ListOptions, ObjectKey, ObjectList, Reader } from '@hangar/client';

export interface InformerOptions<T extends ApiObject = ApiObject> {
  /** Absent: all namespaces. */
  readonly namespace?: string;
  /** Several, each listed and watched by itself: for who may not read all of them. */
  readonly namespaces?: readonly string[];
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Only names, labels, annotations, owners: a fraction of the memory. */
  readonly metadataOnly?: boolean;
  /**
   * What is kept of an object; undefined: nothing, as if it did not exist. Absent: all of it. May change what it is given. Must
   * leave name, namespace, uid and resourceVersion. One that throws is logged, and the object is kept as it came.
   */
  readonly transform?: (object: T) => T | undefined;
}

export interface EventHandler<T extends ApiObject = ApiObject> {
  /** `isInitial`: it was there before the handler, or before the cache; not news. */
  onAdd?(object: T, isInitial: boolean): void;
  /** Also when nothing but the resourceVersion changed. An object that was replaced by another of its name is deleted and added. */
  onUpdate?(before: T, after: T): void;
  /** The last that is known of it: a deletion may have been missed. */
  onDelete?(object: T): void;
}

export interface Registration {
  /** Everything that was there at first was told. */
  readonly hasSynced: boolean;
  /** Rejects with `Aborted`, or `CacheNotSynced` when it was removed or the cache ended before. */
  synced(signal?: AbortSignal): Promise<void>;
  /** Nothing is told any more, at once. Idempotent. */
  remove(): void;
}

/** Values under which an object is found; called once for each version of an object. One that throws is logged: no values. */
export type IndexFunction<T extends ApiObject> = (object: T) => readonly string[];

export interface InformerHealth {
  /** `failing`: the last attempt failed, another follows; what was known before stays. */
  readonly state: 'waiting' | 'listing' | 'watching' | 'failing' | 'ended';
  /** Why, while it is failing. */
  readonly lastError?: Error;
}

export interface Informer<T extends ApiObject = ApiObject> {
  readonly kind: Kind<T>;
  readonly hasSynced: boolean;
  readonly health: InformerHealth;
  /** Resolves when the first list is here; rejects with `Aborted`, or `CacheNotSynced` when the cache ended before. */
  synced(signal?: AbortSignal): Promise<void>;
  /**
   * Tells what is there, then every change: each once, in order, never before this returns. A handler that throws is logged and
   * called again for the next event.
   */
  addHandler(handler: EventHandler<T>): Registration;
  get(key: ObjectKey): T | undefined;
  /** In no order. What changes while it is read may be seen or not, each object once. */
  all(namespace?: string): Iterable<T>;
  /** As of now. Throws `UnknownIndex`. */
  byIndex(index: string, value: string): Iterable<T>;
}

export interface CacheReadOptions {
  /** Metadata is enough: also answered where no more is kept. What is answered may still be all of it. */
  readonly metadataOnly?: boolean;
}

export interface CacheListOptions extends CacheReadOptions {
  readonly namespace?: string | undefined;
  /** One that was added before; the objects that it gave this value. */
  readonly index?: { readonly name: string; readonly value: string };
}

/**
 * Reads wait for the first list of their kind, which they cause if need be, and reject with `CacheNotStarted`, `CacheNotSynced`,
 * `NotInCache` (a namespace that is not kept, more than metadata of a kind of which only that is kept, a version, the next page: ask
 * the server).
 */
export interface Cache extends Reader {
  get<T extends ApiObject>(kind: Kind<T>, key: ObjectKey, options?: GetOptions & CacheReadOptions): Promise<T>;
  /**
   * In no order; a `limit` is not kept. Field selectors: `=` with `metadata.name`, `metadata.namespace` or a field that there is an
   * index for, by its name; everything else rejects with `UnknownIndex`.
   */
  list<T extends ApiObject>(kind: Kind<T>, options?: ListOptions & CacheListOptions): Promise<ObjectList<T>>;
  /**
   * Made when it is asked for first; runs once the cache does. Without options it is the one that reads use. Equal options get the
   * same informer.
   */
  informer<T extends ApiObject>(kind: Kind<T>, options?: InformerOptions<T>): Informer<T>;
  /**
   * Also later: what is there is indexed then. Adding the same again does nothing; another function under a name that is taken
   * throws `InvalidOptions`.
   */
  addIndex<T extends ApiObject>(kind: Kind<T>, name: string, values: IndexFunction<T>): void;
  /** Every informer that exists now; rejects with `Aborted`, or `CacheNotSynced` by then. */
  synced(signal?: AbortSignal): Promise<void>;
  /** Until the signal. Once. */
  start(signal: AbortSignal): Promise<void>;
}
