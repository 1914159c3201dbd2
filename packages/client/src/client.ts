/**
 * The verbs of a cluster. `Reader` is the part that caches implement as well, `Client` is the full interface.
 *
 * Error responses of the server reject with a `StatusError` of @hangar/api, whose `code` is the reason (`NotFound`, `Conflict`, …). All
 * other failures reject with a `ClientError` (see errors.ts).
 *
 *     try {
 *       await client.create(ConfigMap, { metadata: { namespace: 'default', name: 'settings' }, data: { mode: 'fast' } });
 *     } catch (error) {
 *       if (!hasCode(error, 'AlreadyExists')) throw error;
 *     }
 */

import type { ApiObject, Kind, ObjectKey, UnknownObject } from './kind.ts';
import type { HttpAnswer, HttpRequest } from './transport/contract.ts';

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call, which then rejects with `Aborted`. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of `get`. */
export interface GetOptions extends CallOptions {
  /** Reads at least this version. Absent: the newest version. */
  readonly resourceVersion?: string | undefined;
}

/** Options of `list`, `listAll`, `watch` and `deleteCollection`. */
export interface ListOptions extends CallOptions {
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
  /** A selector in the syntax of `kubectl -l`, or labels that must be equal. */
  readonly labelSelector?: string | Readonly<Record<string, string>> | undefined;
  /** A selector in the syntax of `kubectl --field-selector`, or fields that must be equal. */
  readonly fieldSelector?: string | Readonly<Record<string, string>> | undefined;
  readonly resourceVersion?: string | undefined;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan' | undefined;
  /** Maximum number of objects in one page. `listAll` requests pages of this size. */
  readonly limit?: number | undefined;
  /** Continue token of the previous page. */
  readonly continue?: string | undefined;
}

/** One page of a list. */
export interface ObjectList<T extends ApiObject> {
  readonly items: T[];
  readonly resourceVersion: string;
  /** Token of the next page. Absent on the last page. */
  readonly continue?: string;
  /** Number of objects after this page, if the server reports it. */
  readonly remainingItemCount?: number;
}

/** Options of `watch`. */
export interface WatchOptions extends ListOptions {
  /** Requests BOOKMARK events, which report the resourceVersion up to which all events were sent. Absent: true. */
  readonly allowWatchBookmarks?: boolean | undefined;
  /** Requests the existing objects as ADDED events, followed by a BOOKMARK with `isInitialEventsEnd` (WatchList). */
  readonly sendInitialEvents?: boolean | undefined;
  /** Duration after which the server closes the watch. Absent: the server decides. */
  readonly timeoutSeconds?: number | undefined;
}

/** An event of a watch. Watching again from the `resourceVersion` of a BOOKMARK does not repeat earlier events. */
export type WatchEvent<T extends ApiObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  /** All events up to `resourceVersion` were sent. */
  | {
      readonly type: 'BOOKMARK';
      readonly resourceVersion: string;
      readonly isInitialEventsEnd: boolean;
      /** Other annotations of the bookmark, which servers use for messages about the stream. */
      readonly annotations?: Readonly<Record<string, string>>;
    };

/**
 * Events of a watch. The iteration ends when the server closes the watch. It rejects with the `StatusError` of an ERROR event (`Expired`:
 * list again), with `ConnectionLost` when the connection breaks, and with `Aborted` when the signal is aborted.
 *
 *     for await (const event of client.watch(Pod, { namespace: 'default', resourceVersion })) {
 *       if (event.type !== 'BOOKMARK') console.log(event.type, event.object.metadata.name);
 *     }
 */
export type Watch<T extends ApiObject> = AsyncIterable<WatchEvent<T>>;

/** Reads objects, from a server or from a cache. */
export interface Reader {
  /** Returns one object. Rejects with `NotFound` when the object does not exist; `find` returns undefined instead. */
  get<T extends ApiObject>(kind: Kind<T>, key: ObjectKey, options?: GetOptions): Promise<T>;
  /** Returns one page of at most `limit` objects, or all objects when `limit` is absent. */
  list<T extends ApiObject>(kind: Kind<T>, options?: ListOptions): Promise<ObjectList<T>>;
}

/** Options of writes. */
export interface WriteOptions extends CallOptions {
  /** Runs all checks of the server without storing the result. */
  readonly dryRun?: boolean | undefined;
  /** Name under which the server records the owner of changed fields. */
  readonly fieldManager?: string | undefined;
  /** Handling of unknown and duplicate fields. Absent: the default of the server, `Warn`. */
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict' | undefined;
}

/** Options of `apply`. */
export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string;
  /** Takes over fields that other managers own. Absent: such fields cause a `Conflict`. */
  readonly force?: boolean | undefined;
}

/** Options of `delete` and `deleteCollection`. */
export interface DeleteOptions extends CallOptions {
  readonly dryRun?: boolean | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan' | undefined;
  /** The object is deleted only if it has this uid and resourceVersion; otherwise the call rejects with `Conflict`. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string } | undefined;
}

/** A patch: a part of the object for `merge` and `strategic`, the operations of RFC 6902 for `json`. */
export type Patch =
  | { readonly type: 'merge' | 'strategic'; readonly body: object }
  | { readonly type: 'json'; readonly body: readonly object[] };

/** An object to create or update. `apiVersion` and `kind` may be absent, because the kind defines them. */
export type Draft<T extends ApiObject> = Omit<T, 'apiVersion' | 'kind'> & Partial<Pick<T, 'apiVersion' | 'kind'>>;

/** The fields of an object that server-side apply sets. All other fields are absent. */
export type ApplyConfiguration<T> = T extends readonly (infer Item)[]
  ? readonly ApplyConfiguration<Item>[]
  : T extends object
    ? { readonly [Field in keyof T]?: ApplyConfiguration<T[Field]> | undefined }
    : T;

/** Writes objects. */
export interface Writer {
  /** Creates an object. Rejects with `AlreadyExists` when an object with this name exists. */
  create<T extends ApiObject>(kind: Kind<T>, object: Draft<T>, options?: WriteOptions): Promise<T>;
  /** Replaces an object. Rejects with `Conflict` when the resourceVersion of the object is not the newest version. */
  update<T extends ApiObject>(kind: Kind<T>, object: Draft<T>, options?: WriteOptions): Promise<T>;
  /** Changes a part of an object. */
  patch<T extends ApiObject>(kind: Kind<T>, key: ObjectKey, patch: Patch, options?: WriteOptions): Promise<T>;
  /** Server-side apply. Creates the object if it does not exist. */
  apply<T extends ApiObject>(kind: Kind<T>, object: ApplyConfiguration<T>, options: ApplyOptions): Promise<T>;
  /** Deletes an object. Resolves with false when the object does not exist. */
  delete<T extends ApiObject>(kind: Kind<T>, key: ObjectKey, options?: DeleteOptions): Promise<boolean>;
  /** Deletes all objects that the options select. */
  deleteCollection<T extends ApiObject>(kind: Kind<T>, options?: ListOptions & DeleteOptions): Promise<void>;
}

/**
 * Calls of one subresource, such as `status`, `scale`, `eviction` or `token`. Some subresources have a kind that differs from the kind of
 * the object; for them, `R` is the type of the response.
 */
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

/** A client whose objects have only `metadata`. */
export type MetadataClient = Pick<Client, 'get' | 'list' | 'listAll' | 'watch' | 'patch' | 'delete'>;

/** All verbs of a cluster. */
export interface Client extends Reader, Writer {
  /** Returns the calls of a subresource. */
  subresource(name: string): Subresource;
  /** `subresource('status')`. */
  readonly status: Subresource;
  /** Calls that transfer only `metadata`, which saves traffic and memory. See `asMetadata`. */
  readonly metadata: MetadataClient;
  /** Watches the objects of a kind. See `Watch`. */
  watch<T extends ApiObject>(kind: Kind<T>, options?: WatchOptions): Watch<T>;
  /** Iterates over all objects and requests one page at a time, so that a long list is never in memory as a whole. */
  listAll<T extends ApiObject>(kind: Kind<T>, options?: ListOptions): AsyncIterable<T>;
  /** Sends a request that is not about an object, such as `/version` or logs. The target is relative to the path of the cluster. */
  raw(request: HttpRequest): Promise<HttpAnswer>;
  /** Closes all connections and aborts running calls. */
  close(): Promise<void>;
}
