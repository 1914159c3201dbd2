/**
 * The cache of a whole fleet: one list and one watch for each kind, regardless of the number of clusters. The cache of each cluster is a
 * view of it, which costs almost nothing while it is unused, and is closed by its signal.
 *
 * The client reads all clusters (`/clusters/STAR/control-plane` of Hangar, STAR being `*`). Its objects name their cluster in
 * `metadata.clusterName`. That field is removed before an object is stored, so that no read carries it into a write. Objects of clusters
 * without a view are kept too, so that a new view is complete at once.
 */

import { groupOf } from '@hangar/client';
import type { ApiObject, Client, GetOptions, Kind, ListOptions, ObjectKey, ObjectList } from '@hangar/client';
import { notFound } from '@hangar/api/status';
import type { ClusterName } from '../cluster.ts';
import type { CacheOptions } from './cache-options.ts';
import type { CacheListOptions, CacheReadOptions, IndexFunction, InformerOptions } from './contract.ts';
import { FleetInformer } from './fleet-informer.ts';
import type { IsElsewhere } from './fleet-informer.ts';
import { FleetView } from './fleet-view.ts';
import { InformerRegistry } from './informer-registry.ts';
import { namespaceOf, readable, waitForSync } from './reading.ts';
import { Running } from './running.ts';
import { selected } from './selection.ts';
import { newWorld } from './world.ts';
import type { CacheWorld, Injected } from './world.ts';

/** Options of `FleetCache`. */
export interface FleetCacheOptions extends Injected {
  /** Client for all clusters. */
  readonly client: Client;
  readonly options?: CacheOptions | undefined;
  /**
   * Reports whether another server serves the cluster now. Called for clusters of which a new list has no objects: the objects of such a
   * cluster are not deleted. Absent: all clusters are always on the stream.
   */
  readonly isElsewhere?: IsElsewhere | undefined;
}

/** One cache for many clusters, with one list and watch per kind over all of them. `cluster` returns the view of one cluster. */
export class FleetCache {
  readonly #options: CacheOptions;
  readonly #world: CacheWorld;
  readonly #informers: InformerRegistry<FleetInformer<ApiObject>>;
  readonly #running = new Running();

  constructor({ client, options = {}, isElsewhere, ...injected }: FleetCacheOptions) {
    this.#options = options;
    const world = (this.#world = newWorld(injected, options));
    this.#informers = new InformerRegistry(
      options,
      (made) => {
        const informer = new FleetInformer({ ...made, client, world, isElsewhere });
        this.#running.add(informer);
        return informer;
      },
      injected.log,
    );
  }

  /** Returns a new view of one cluster. Handlers that are added to the view are removed with it. */
  cluster(name: ClusterName): FleetView {
    return new FleetView(this, name);
  }

  /** Called by a view that is closed. */
  forgetMoved(cluster: ClusterName): void {
    for (const informer of this.#informers.all()) informer.forgetMoved(cluster);
  }

  /** Returns the informer of a kind and starts it if necessary. */
  informer<T extends ApiObject>(kind: Kind<T>, options?: InformerOptions<T>): FleetInformer<T> {
    return this.#informers.informer(kind, options) as unknown as FleetInformer<T>;
  }

  /** Adds an index for all clusters. See `Cache.addIndex`. */
  addIndex<T extends ApiObject>(kind: Kind<T>, name: string, values: IndexFunction<T>): void {
    this.#informers.addIndex(kind, name, values);
  }

  /** Resolves when all current informers are synced. */
  async synced(signal?: AbortSignal): Promise<void> {
    await Promise.all([...this.#informers.all()].map((informer) => informer.synced(signal)));
  }

  /**
   * Relists all kinds of all clusters, so that later reads are at least as new as this call. Expensive. Rejects with `Aborted` or
   * `CacheNotSynced`.
   */
  async refreshed(signal?: AbortSignal): Promise<void> {
    await Promise.all([...this.#informers.all()].map((informer) => informer.refreshed(signal)));
  }

  /** Runs the informers until the signal is aborted. Can be called once. */
  start(signal: AbortSignal): Promise<void> {
    return this.#running.run(signal);
  }

  async get<T extends ApiObject>(
    cluster: ClusterName,
    kind: Kind<T>,
    key: ObjectKey,
    options: GetOptions & CacheReadOptions = {},
  ): Promise<T> {
    const informer = this.#readable(kind, key.namespace, options);
    if (!informer.hasSynced) await this.#wait(informer, options.signal);
    const found = informer.storeOf(cluster).get(kind.isNamespaced ? key.namespace : undefined, key.name);
    if (found === undefined) throw notFound({ group: groupOf(kind), resource: kind.plural }, key.name);
    return found;
  }

  async list<T extends ApiObject>(
    cluster: ClusterName,
    kind: Kind<T>,
    options: ListOptions & CacheListOptions = {},
  ): Promise<ObjectList<T>> {
    const namespace = namespaceOf(kind, options.namespace);
    const informer = this.#readable(kind, namespace, options);
    if (!informer.hasSynced) await this.#wait(informer, options.signal);
    const items = selected(informer.storeOf(cluster), { ...options, namespace });
    return { items, resourceVersion: informer.resourceVersion };
  }

  #readable<T extends ApiObject>(
    kind: Kind<T>,
    namespace: string | undefined,
    options: (GetOptions | ListOptions) & CacheReadOptions,
  ): FleetInformer<T> {
    const from = { running: this.#running, informers: this.#informers };
    return readable(from, kind, namespace, options) as unknown as FleetInformer<T>;
  }

  #wait<T extends ApiObject>(informer: FleetInformer<T>, signal: AbortSignal | undefined): Promise<void> {
    return waitForSync(informer, { ...this.#options, clock: this.#world.clock, signal });
  }
}
