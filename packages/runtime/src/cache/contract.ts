/**
 * The objects of a cluster, kept up to date in memory. Objects that a cache returns are shared and must not be changed (`cloneJson` first;
 * the delegating client returns copies).
 */

import type { ApiObject, GetOptions, Kind, ListOptions, ObjectKey, ObjectList, Reader } from '@hangar/client';

/** Selects the objects and fields that an informer keeps. */
export interface InformerOptions<T extends ApiObject = ApiObject> {
  /** Absent: all namespaces. */
  readonly namespace?: string;
  /** Several namespaces, each with its own list and watch, for clients without access to all namespaces. */
  readonly namespaces?: readonly string[];
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Keeps only `metadata`, which needs a fraction of the memory. */
  readonly metadataOnly?: boolean;
  /**
   * Returns the object to keep, or undefined to ignore the object. May change its argument, but not name, namespace, uid and
   * resourceVersion. If it throws, the error is logged and the original object is kept. Absent: keeps the whole object.
   */
  readonly transform?: (object: T) => T | undefined;
}

/** Receives the changes of an informer. All methods are synchronous. */
export interface EventHandler<T extends ApiObject = ApiObject> {
  /** Called for a new object. `isInitial` is true if the object existed before the handler or the cache. */
  onAdd?(object: T, isInitial: boolean): void;
  /** Called for a change, even if only the resourceVersion changed. A recreated object causes `onDelete` and `onAdd`. */
  onUpdate?(before: T, after: T): void;
  /** Called with the last known state. It can be outdated, because a watch can miss the deletion. */
  onDelete?(object: T): void;
}

/** A handler that is added to an informer. */
export interface Registration {
  /** True when the handler received all initial objects. */
  readonly hasSynced: boolean;
  /**
   * Resolves when `hasSynced` is true. Rejects with `Aborted`, or with `CacheNotSynced` when the handler was removed or the cache
   * stopped.
   */
  synced(signal?: AbortSignal): Promise<void>;
  /** Removes the handler. It receives no further events. Idempotent. */
  remove(): void;
}

/**
 * Returns the index values of an object. Called once for each version of an object. If it throws, the error is logged and the object has
 * no values.
 */
export type IndexFunction<T extends ApiObject> = (object: T) => readonly string[];

/** State of an informer. */
export interface InformerHealth {
  /** `failing`: the last list or watch failed and is retried; the cached objects stay available. */
  readonly state: 'waiting' | 'listing' | 'watching' | 'failing' | 'ended';
  /** The error of the last attempt while the state is `failing`. */
  readonly lastError?: Error;
}

/** The cached objects of one kind. */
export interface Informer<T extends ApiObject = ApiObject> {
  readonly kind: Kind<T>;
  readonly hasSynced: boolean;
  readonly health: InformerHealth;
  /** Resolves after the first list. Rejects with `Aborted`, or with `CacheNotSynced` when the cache stopped. */
  synced(signal?: AbortSignal): Promise<void>;
  /**
   * Calls the handler for all existing objects and then for each change, in order, and never before this method returns. An error of a
   * handler is logged.
   */
  addHandler(handler: EventHandler<T>): Registration;
  get(key: ObjectKey): T | undefined;
  /** Iterates over the objects in no particular order. A concurrent change may or may not be visible; each object occurs once. */
  all(namespace?: string): Iterable<T>;
  /** Returns the objects with this index value. Throws `UnknownIndex`. */
  byIndex(index: string, value: string): Iterable<T>;
}

/** Options of cached reads. */
export interface CacheReadOptions {
  /** Requests only metadata, so that a cache that has only metadata can be used. The result may have more fields. */
  readonly metadataOnly?: boolean;
}

/** Options of cached lists. */
export interface CacheListOptions extends CacheReadOptions {
  readonly namespace?: string | undefined;
  /** Returns only objects that have this value in this index. */
  readonly index?: { readonly name: string; readonly value: string };
}

/**
 * Reads from memory. A read starts the informer of its kind if necessary and waits for its first list. It rejects with `CacheNotStarted`,
 * `CacheNotSynced`, or `NotInCache` for reads that only the server can answer: a namespace that is not cached, more than metadata of a
 * kind with metadata only, a specific resourceVersion, or a continue token.
 */
export interface Cache extends Reader {
  get<T extends ApiObject>(kind: Kind<T>, key: ObjectKey, options?: GetOptions & CacheReadOptions): Promise<T>;
  /**
   * Returns all matching objects in no particular order; `limit` is ignored. Field selectors support `=` with `metadata.name`,
   * `metadata.namespace` or the name of an index; all others reject with `UnknownIndex`.
   */
  list<T extends ApiObject>(kind: Kind<T>, options?: ListOptions & CacheListOptions): Promise<ObjectList<T>>;
  /**
   * Returns the informer of a kind and creates it if necessary. Calls with equal options return the same informer; without options, it is
   * the informer that reads use.
   */
  informer<T extends ApiObject>(kind: Kind<T>, options?: InformerOptions<T>): Informer<T>;
  /**
   * Adds an index, also after the start. Adding the same function again has no effect; a different function with the same name throws
   * `InvalidOptions`.
   */
  addIndex<T extends ApiObject>(kind: Kind<T>, name: string, values: IndexFunction<T>): void;
  /** Resolves when all current informers are synced. Rejects with `Aborted` or `CacheNotSynced`. */
  synced(signal?: AbortSignal): Promise<void>;
  /** Runs the informers until the signal is aborted. Can be called once. */
  start(signal: AbortSignal): Promise<void>;
}
