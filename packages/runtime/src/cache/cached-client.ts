/**
 * A client that reads from a cache and writes to the server. Reads return copies that may be changed. Reads that the cache cannot answer go
 * to the server: specific versions, pages, namespaces and fields that are not cached, and excluded kinds.
 */

import { kindKey } from '@hangar/client';
import type { ApiObject, ApplyConfiguration, ApplyOptions, Client, DeleteOptions, Draft } from '@hangar/client';
import type { GetOptions, HttpAnswer, HttpRequest, Kind, ListOptions, MetadataClient } from '@hangar/client';
import type {
  KindNames,
  ObjectKey,
  ObjectList,
  Patch,
  Subresource,
  Watch,
  WatchOptions,
  WriteOptions,
} from '@hangar/client';
import { hasCode } from '@hangar/core';
import { cloneJson } from '../json/clone-json.ts';
import type { Cache, CacheReadOptions } from './contract.ts';

/** Options of `CachedClient`. */
export interface CachedClientOptions {
  readonly client: Client;
  readonly cache: Cache;
  /** Kinds that are always read from the server, such as large kinds that are read rarely, or Secrets that should not be in memory. */
  readonly uncached?: readonly KindNames[] | undefined;
  /** Returns objects of the cache without copying them. The caller must not change them. */
  readonly unsafeShareObjects?: boolean | undefined;
}

type Read = Pick<Client, 'get' | 'list'>;

/** A client that reads from a cache and writes to the server. */
export class CachedClient implements Client {
  readonly #client: Client;
  readonly #cache: Cache;
  readonly #uncached: ReadonlySet<string>;
  readonly #copy: <T>(value: T) => T;
  readonly status: Subresource;
  readonly metadata: MetadataClient;

  constructor({ client, cache, uncached = [], unsafeShareObjects = false }: CachedClientOptions) {
    this.#client = client;
    this.#cache = cache;
    this.#uncached = new Set(uncached.map(kindKey));
    this.#copy = unsafeShareObjects ? (value) => value : cloneJson;
    this.status = client.status;
    this.metadata = this.#metadata(client.metadata);
  }

  get<T extends ApiObject>(kind: Kind<T>, key: ObjectKey, options: GetOptions = {}): Promise<T> {
    return this.#get(this.#client, kind, key, options);
  }

  list<T extends ApiObject>(kind: Kind<T>, options: ListOptions = {}): Promise<ObjectList<T>> {
    return this.#list(this.#client, kind, options);
  }

  /** Iterates over the cached objects. Pages are not needed. */
  async *listAll<T extends ApiObject>(kind: Kind<T>, options: ListOptions = {}): AsyncGenerator<T, void, void> {
    const { limit: _, ...rest } = options;
    if (this.#isCached(kind, rest)) {
      const list = await orServer(
        () => this.#cache.list(kind, rest),
        () => Promise.resolve(undefined),
      );
      if (list) {
        for (const object of list.items) yield this.#copy(object);
        return;
      }
    }
    yield* this.#client.listAll(kind, options);
  }

  watch<T extends ApiObject>(kind: Kind<T>, options?: WatchOptions): Watch<T> {
    return this.#client.watch(kind, options);
  }

  create<T extends ApiObject>(kind: Kind<T>, object: Draft<T>, options?: WriteOptions): Promise<T> {
    return this.#client.create(kind, object, options);
  }

  update<T extends ApiObject>(kind: Kind<T>, object: Draft<T>, options?: WriteOptions): Promise<T> {
    return this.#client.update(kind, object, options);
  }

  patch<T extends ApiObject>(kind: Kind<T>, key: ObjectKey, patch: Patch, options?: WriteOptions): Promise<T> {
    return this.#client.patch(kind, key, patch, options);
  }

  apply<T extends ApiObject>(kind: Kind<T>, object: ApplyConfiguration<T>, options: ApplyOptions): Promise<T> {
    return this.#client.apply(kind, object, options);
  }

  delete<T extends ApiObject>(kind: Kind<T>, key: ObjectKey, options?: DeleteOptions): Promise<boolean> {
    return this.#client.delete(kind, key, options);
  }

  deleteCollection<T extends ApiObject>(kind: Kind<T>, options?: ListOptions & DeleteOptions): Promise<void> {
    return this.#client.deleteCollection(kind, options);
  }

  subresource(name: string): Subresource {
    return this.#client.subresource(name);
  }

  raw(request: HttpRequest): Promise<HttpAnswer> {
    return this.#client.raw(request);
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  /** Answered with whole objects where those are cached: they have the same metadata. */
  #metadata(server: MetadataClient): MetadataClient {
    return {
      get: (kind, key, options = {}) => this.#get(server, kind, key, { ...options, metadataOnly: true }),
      list: (kind, options = {}) => this.#list(server, kind, { ...options, metadataOnly: true }),
      listAll: (kind, options) => server.listAll(kind, options),
      watch: (kind, options) => server.watch(kind, options),
      patch: (kind, key, patch, options) => server.patch(kind, key, patch, options),
      delete: (kind, key, options) => server.delete(kind, key, options),
    };
  }

  async #get<T extends ApiObject>(
    server: Read,
    kind: Kind<T>,
    key: ObjectKey,
    options: GetOptions & CacheReadOptions,
  ): Promise<T> {
    if (!this.#isCached(kind, options)) return server.get(kind, key, options);
    return orServer(
      async () => this.#copied(await this.#cache.get(kind, key, options), options),
      () => server.get(kind, key, options),
    );
  }

  async #list<T extends ApiObject>(
    server: Read,
    kind: Kind<T>,
    options: ListOptions & CacheReadOptions,
  ): Promise<ObjectList<T>> {
    if (!this.#isCached(kind, options)) return server.list(kind, options);
    const fromCache = async (): Promise<ObjectList<T>> => {
      const { items, resourceVersion } = await this.#cache.list(kind, options);
      return { items: items.map((object) => this.#copied(object, options)), resourceVersion };
    };
    return orServer(fromCache, () => server.list(kind, options));
  }

  #copied<T extends ApiObject>(object: T, { metadataOnly }: CacheReadOptions): T {
    if (!metadataOnly) return this.#copy(object);
    const { apiVersion, kind, metadata } = object;
    return { apiVersion, kind, metadata: this.#copy(metadata) } as T;
  }

  /** Only the server can answer for specific versions and pages. */
  #isCached(kind: KindNames, { resourceVersion, limit, ...options }: ListOptions): boolean {
    if ((resourceVersion && resourceVersion !== '0') || limit !== undefined || options.continue) return false;
    return this.#uncached.size === 0 || !this.#uncached.has(kindKey(kind));
  }
}

/** Falls back to the server for reads that the cache does not cover or cannot select. */
async function orServer<R>(fromCache: () => Promise<R>, fromServer: () => Promise<R>): Promise<R> {
  try {
    return await fromCache();
  } catch (error) {
    if (hasCode(error, 'NotInCache') || hasCode(error, 'UnknownIndex')) return fromServer();
    throw error;
  }
}
