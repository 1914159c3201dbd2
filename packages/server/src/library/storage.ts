/**
 * Custom storage of a kind's objects. Implement the methods that the backend supports: the served verbs, also in discovery, follow from
 * them.
 *
 *   get, list        GET of one, of all
 *   watch            WATCH
 *   create           POST; apply of a missing object
 *   update, get      PUT, PATCH, apply
 *   delete, get      DELETE; with `list` also of a collection
 *
 * Versions are integers that increase with every change of any object of the kind. A write with an expected version must happen only if the
 * object still has it: compare and write in one step. Throw a `StatusError` to refuse a request with your own message; any other error is
 * reported as an internal error.
 */

import type { KubeObject } from '@hangar/api';

export type Awaitable<T> = T | Promise<T>;

/** A custom storage. Returned objects have a `metadata.resourceVersion`; objects to write do not. A verb without a method is not served. */
export interface KindStorage<T extends KubeObject = KubeObject> {
  /** Returns an object. `namespace` is empty for cluster-scoped kinds. */
  get?(namespace: string, name: string): Awaitable<T | undefined>;
  /** Returns all objects of a namespace, or of all namespaces if it is empty, and the version of this state. */
  list?(namespace: string): Awaitable<Listed<T>>;
  /** Returns the new version, or undefined when the name is already used. */
  create?(object: T): Awaitable<number | undefined>;
  /** Returns the new version, or undefined when the object does not exist or its version is not `expected`. */
  update?(object: T, expected: number): Awaitable<number | undefined>;
  /** Returns the version of the deletion, or undefined when the object does not exist or its version is not `expected`. */
  delete?(namespace: string, name: string, expected: number): Awaitable<number | undefined>;
  /**
   * Returns all changes after a version in order, until the signal is aborted. `Feed` implements it for a storage that only one process
   * writes.
   */
  watch?(after: number, signal: AbortSignal): AsyncIterable<Change<T>>;
  /** Returns the current version; absent: the version of `list`. */
  version?(): Awaitable<number>;
  /**
   * Returns a part of a list in the order of names. With it, and `list` for discovery, lists are read in pages from the storage, which
   * keeps the state of earlier versions or throws a `CompactedError`. Only for cluster-scoped kinds.
   */
  page?(options: PageOptions): Awaitable<StoragePage<T>>;
  /** Returns the number of objects from a name on, for `remainingItemCount`; it may be lower than the exact number. */
  count?(options: Omit<PageOptions, 'limit'>): Awaitable<number>;
}

export interface PageOptions {
  /** Names from this one on; empty: all. */
  readonly start: string;
  /** Maximum number of objects. */
  readonly limit: number;
  /** Version of the state; undefined: the current one. */
  readonly version: number | undefined;
}

export interface StoragePage<T> extends Listed<T> {
  /** There are objects after this page. */
  readonly more: boolean;
}

export interface Listed<T> {
  readonly items: readonly T[];
  readonly version: number;
}

/** A change. `object` is the state after the change, or before a deletion; `version` is the version of the change. */
export interface Change<T> {
  readonly type: 'created' | 'updated' | 'deleted';
  readonly version: number;
  readonly object: T;
  /** The state before an update. Without it, watches with selectors do not report objects that no longer match. */
  readonly previous?: T;
}

/** In the order of custom resources in discovery. */
export function verbsOf(storage: KindStorage): string[] {
  const { get, list, create, update, delete: remove, watch } = storage;
  const has: Readonly<Record<string, unknown>> = {
    delete: remove && get,
    deletecollection: remove && get && list,
    get,
    list,
    patch: update && get,
    create,
    update: update && get,
    watch,
  };
  return Object.keys(has).filter((verb) => has[verb] !== undefined);
}
