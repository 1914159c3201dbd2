/**
 * What can be asked of a cluster. `Reader` is also what caches are; `Client` is all of it. Refusals of the server are rejected
 * with api's `StatusError` (test its `code`: `NotFound`, `Conflict`, …), everything else with a `ClientError` (errors.ts).
 */

import type { ApiObject, Kind, ObjectKey, UnknownObject } from './kind.ts';
import type { HttpAnswer, HttpRequest } from './transport/contract.ts';

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface GetOptions extends CallOptions {
  readonly resourceVersion?: string | undefined;
}

export interface ListOptions extends CallOptions {
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
  /** As `kubectl -l` takes it, or what must be equal. */
  readonly labelSelector?: string | Readonly<Record<string, string>> | undefined;
  readonly fieldSelector?: string | Readonly<Record<string, string>> | undefined;
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan' | undefined;
  /** Of one page of a `list`. `listAll` takes pages of this size. */
  readonly limit?: number | undefined;
  readonly continue?: string | undefined;
}

export interface ObjectList<T extends ApiObject> {
  readonly items: T[];
  readonly resourceVersion: string;
  /** Where the next page begins; absent on the last one. */
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export interface WatchOptions extends ListOptions {
  /** Absent: yes. The server then says now and then up to where everything was told. */
  readonly allowWatchBookmarks?: boolean | undefined;
  /** WatchList: what exists first, then a bookmark that says so. */
  readonly sendInitialEvents?: boolean | undefined;
  /** The server ends the watch after this time. Absent: it decides. */
  readonly timeoutSeconds?: number | undefined;
}

export type WatchEvent<T extends ApiObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  /** Nothing of before `resourceVersion` will come again. */
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly isInitialEventsEnd: boolean };

/**
 * Ends when the server ends it in good order. Rejects with the `StatusError` of an ERROR event (`Expired`: list again), with
 * `ConnectionLost` when the connection breaks, with `Aborted` by its signal.
 */
export type Watch<T extends ApiObject> = AsyncIterable<WatchEvent<T>>;

export interface Reader {
  get<T extends ApiObject>(kind: Kind<T>, key: ObjectKey, options?: GetOptions): Promise<T>;
  /** One page, or everything when no `limit` is given. */
  list<T extends ApiObject>(kind: Kind<T>, options?: ListOptions): Promise<ObjectList<T>>;
}

export interface WriteOptions extends CallOptions {
  readonly dryRun?: boolean | undefined;
  readonly fieldManager?: string | undefined;
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict' | undefined;
}

export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string;
  /** Take over what others own. */
  readonly force?: boolean | undefined;
}

export interface DeleteOptions extends CallOptions {
  readonly dryRun?: boolean | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan' | undefined;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string } | undefined;
}

/** What an object becomes. `merge` and `strategic` take a part of the object, `json` the operations of RFC 6902. */
export type Patch =
  | { readonly type: 'merge' | 'strategic'; readonly body: object }
  | { readonly type: 'json'; readonly body: readonly object[] };

/** An object that may leave out what its kind says anyway. */
export type Draft<T extends ApiObject> = Omit<T, 'apiVersion' | 'kind'> & Partial<Pick<T, 'apiVersion' | 'kind'>>;

/** A part of an object, as server-side apply takes it. */
export type ApplyConfiguration<T> = T extends readonly (infer Item)[]
  ? readonly ApplyConfiguration<Item>[]
  : T extends object
    ? { readonly [Field in keyof T]?: ApplyConfiguration<T[Field]> | undefined }
    : T;

export interface Writer {
  create<T extends ApiObject>(kind: Kind<T>, object: Draft<T>, options?: WriteOptions): Promise<T>;
  /** Rejects with `Conflict` when the object's resourceVersion is no longer the newest. */
  update<T extends ApiObject>(kind: Kind<T>, object: Draft<T>, options?: WriteOptions): Promise<T>;
  patch<T extends ApiObject>(kind: Kind<T>, key: ObjectKey, patch: Patch, options?: WriteOptions): Promise<T>;
  /** Server-side apply: creates what does not exist. */
  apply<T extends ApiObject>(kind: Kind<T>, object: ApplyConfiguration<T>, options: ApplyOptions): Promise<T>;
  /** Resolves with false when there was nothing to delete. */
  delete<T extends ApiObject>(kind: Kind<T>, key: ObjectKey, options?: DeleteOptions): Promise<boolean>;
  deleteCollection<T extends ApiObject>(kind: Kind<T>, options?: ListOptions & DeleteOptions): Promise<void>;
}

/** `status`, `scale`, `eviction`, `token`, … of an object. What it is about is not always of the object's own kind. */
export interface Subresource {
  get<R = UnknownObject, T extends ApiObject = UnknownObject>(
    kind: Kind<T>,
    key: ObjectKey,
    options?: GetOptions,
  ): Promise<R>;
  create<R = UnknownObject, T extends ApiObject = UnknownObject>(
    kind: Kind<T>,
    key: ObjectKey,
    body: object,
    options?: WriteOptions,
  ): Promise<R>;
  update<T extends ApiObject>(kind: Kind<T>, object: Draft<T>, options?: WriteOptions): Promise<T>;
  patch<T extends ApiObject>(kind: Kind<T>, key: ObjectKey, patch: Patch, options?: WriteOptions): Promise<T>;
  apply<T extends ApiObject>(kind: Kind<T>, object: ApplyConfiguration<T>, options: ApplyOptions): Promise<T>;
}

export type MetadataClient = Pick<Client, 'get' | 'list' | 'listAll' | 'watch' | 'patch' | 'delete'>;

export interface Client extends Reader, Writer {
  subresource(name: string): Subresource;
  /** `subresource('status')`. */
  readonly status: Subresource;
  /** The same of only `metadata`: what is in spec, status or data neither travels nor takes memory. See `asMetadata`. */
  readonly metadata: MetadataClient;
  watch<T extends ApiObject>(kind: Kind<T>, options?: WatchOptions): Watch<T>;
  /** Every object, in pages: a list that is too long to have at once. */
  listAll<T extends ApiObject>(kind: Kind<T>, options?: ListOptions): AsyncIterable<T>;
  /** For what is no object: `/version`, logs. The target is below the cluster's own path. */
  raw(request: HttpRequest): Promise<HttpAnswer>;
  close(): Promise<void>;
}
