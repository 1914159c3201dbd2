/**
 * The cache of one cluster: one informer for each kind that is read or watched, created on first use.
 *
 * Objects that it returns are shared (contract.ts). The first read of a kind waits for its list; to avoid that, request the informer before
 * the start. After it stops, the cache still returns the objects that it had.
 */

import { groupOf } from '@hangar/client';
import type { ApiObject, Client, GetOptions, Kind, ListOptions, ObjectKey, ObjectList } from '@hangar/client';
import { notFound } from '@hangar/api/status';
import type { Clock, Logger, Random } from '@hangar/core';
import type { CacheOptions } from './cache-options.ts';
import type {
  Cache,
  CacheListOptions,
  CacheReadOptions,
  IndexFunction,
  Informer,
  InformerOptions,
} from './contract.ts';
import { ClusterInformer } from './informer.ts';
import { InformerRegistry } from './informer-registry.ts';
import { namespaceOf, readable, waitForSync } from './reading.ts';
import { Running } from './running.ts';
import { selected } from './selection.ts';
import { newWorld } from './world.ts';
import type { CacheWorld } from './world.ts';

/** Options of `ClusterCache`. */
export interface ClusterCacheOptions {
  readonly client: Client;
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  readonly log?: Logger | undefined;
  readonly options?: CacheOptions | undefined;
}

/** The cache of one cluster. */
export class ClusterCache implements Cache {
  readonly #options: CacheOptions;
  readonly #world: CacheWorld;
  readonly #informers: InformerRegistry<ClusterInformer<ApiObject>>;
  readonly #running = new Running();

  constructor({ client, clock, random, log, options = {} }: ClusterCacheOptions) {
    this.#options = options;
    const world = (this.#world = newWorld({ clock, random, log }, options));
    this.#informers = new InformerRegistry(
      options,
      (made) => {
        const informer = new ClusterInformer({ ...made, client, world });
        this.#running.add(informer);
        return informer;
      },
      log,
    );
  }

  informer<T extends ApiObject>(kind: Kind<T>, options?: InformerOptions<T>): Informer<T> {
    return this.#informers.informer(kind, options) as unknown as Informer<T>;
  }

  addIndex<T extends ApiObject>(kind: Kind<T>, name: string, values: IndexFunction<T>): void {
    this.#informers.addIndex(kind, name, values);
  }

  async get<T extends ApiObject>(
    kind: Kind<T>,
    key: ObjectKey,
    options: GetOptions & CacheReadOptions = {},
  ): Promise<T> {
    const informer = this.#readable(kind, key.namespace, options);
    if (!informer.hasSynced) await this.#wait(informer, options.signal);
    const found = informer.get(key);
    if (found === undefined) throw notFound({ group: groupOf(kind), resource: kind.plural }, key.name);
    return found;
  }

  async list<T extends ApiObject>(kind: Kind<T>, options: ListOptions & CacheListOptions = {}): Promise<ObjectList<T>> {
    const namespace = namespaceOf(kind, options.namespace);
    const informer = this.#readable(kind, namespace, options);
    if (!informer.hasSynced) await this.#wait(informer, options.signal);
    const items = selected(informer.replica.store, { ...options, namespace });
    return { items, resourceVersion: informer.resourceVersion };
  }

  async synced(signal?: AbortSignal): Promise<void> {
    await Promise.all([...this.#informers.all()].map((informer) => informer.synced(signal)));
  }

  start(signal: AbortSignal): Promise<void> {
    return this.#running.run(signal);
  }

  #readable<T extends ApiObject>(
    kind: Kind<T>,
    namespace: string | undefined,
    options: (GetOptions | ListOptions) & CacheReadOptions,
  ): ClusterInformer<T> {
    const from = { running: this.#running, informers: this.#informers };
    return readable(from, kind, namespace, options) as unknown as ClusterInformer<T>;
  }

  #wait<T extends ApiObject>(informer: ClusterInformer<T>, signal: AbortSignal | undefined): Promise<void> {
    return waitForSync(informer, { ...this.#options, clock: this.#world.clock, signal });
  }
}
