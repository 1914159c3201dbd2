/**
 * Where the objects of a kind are, when they are not in a store of ours. Implement what the thing behind can do: the verbs
 * that are served, and shown in discovery, follow from the methods that are there.
 *
 *   get, list        GET of one, of all
 *   watch            WATCH
 *   create           POST; apply of what is not there
 *   update, get      PUT, PATCH, apply
 *   delete, get      DELETE; with `list` also of a collection
 *
 * Versions are whole numbers that grow with every change of the kind, whichever object it is of. A write that names a
 * version must happen only when the object has it still: decide and write in one step. Throw a `StatusError` to refuse a
 * request in your own words; anything else is answered as the server's own failure.
 */

import type { KubeObject } from '@hangar/api';

export type Awaitable<T> = T | Promise<T>;

/** What is read has its `metadata.resourceVersion`; what is to be written does not. */
export interface KindStorage<T extends KubeObject = KubeObject> {
  /** `namespace` is empty for kinds of the cluster. */
  get?(namespace: string, name: string): Awaitable<T | undefined>;
  /** All of a namespace, or of all of them when it is empty; with the version that this is the state of. */
  list?(namespace: string): Awaitable<Listed<T>>;
  /** The new version; undefined when the name is taken. */
  create?(object: T): Awaitable<number | undefined>;
  /** The new version; undefined when the object has another version than `expected`, or is gone. */
  update?(object: T, expected: number): Awaitable<number | undefined>;
  /** The version of the deletion; undefined when the object has another version than `expected`, or is gone. */
  delete?(namespace: string, name: string, expected: number): Awaitable<number | undefined>;
  /** Every change after a version, in order, for as long as the signal lasts. `Feed` does it for what one process writes. */
  watch?(after: number, signal: AbortSignal): AsyncIterable<Change<T>>;
  /** The present version; without it, `list` is asked. */
  version?(): Awaitable<number>;
}

export interface Listed<T> {
  readonly items: readonly T[];
  readonly version: number;
}

/** `object` is the state after the change, or before a deletion; `version` that of the change. */
export interface Change<T> {
  readonly type: 'created' | 'updated' | 'deleted';
  readonly version: number;
  readonly object: T;
  /** Before an update: without it, watches with selectors do not see an object go. */
  readonly previous?: T;
}

/** In the order of custom resources' discovery. */
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
