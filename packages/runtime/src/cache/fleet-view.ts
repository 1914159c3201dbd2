/** A view of one cluster in the cache of a fleet, with its own handlers. */

import type { ApiObject, GetOptions, Kind, ListOptions, ObjectKey, ObjectList } from '@hangar/client';
import { aborted } from '@hangar/core';
import type { ClusterName } from '../cluster.ts';
import { RuntimeError } from '../errors.ts';
import type {
  Cache,
  CacheListOptions,
  CacheReadOptions,
  EventHandler,
  IndexFunction,
  Informer,
  InformerHealth,
  InformerOptions,
  Registration,
} from './contract.ts';
import type { FleetCache } from './fleet-cache.ts';
import type { FleetInformer } from './fleet-informer.ts';

/** The objects of one cluster in a `FleetCache`. */
export class FleetView implements Cache {
  readonly name: ClusterName;
  readonly #fleet: FleetCache;
  /** Both are created on first use: most views of a large fleet are never read. */
  #informers: Map<FleetInformer<ApiObject>, ViewInformer<ApiObject>> | undefined;
  #registrations: Set<Registration> | undefined;
  #isClosed = false;
  #hasStarted = false;

  constructor(fleet: FleetCache, name: ClusterName) {
    this.#fleet = fleet;
    this.name = name;
  }

  get<T extends ApiObject>(kind: Kind<T>, key: ObjectKey, options?: GetOptions & CacheReadOptions): Promise<T> {
    return this.#fleet.get(this.name, kind, key, options);
  }

  list<T extends ApiObject>(kind: Kind<T>, options?: ListOptions & CacheListOptions): Promise<ObjectList<T>> {
    return this.#fleet.list(this.name, kind, options);
  }

  informer<T extends ApiObject>(kind: Kind<T>, options?: InformerOptions<T>): Informer<T> {
    const shared = this.#fleet.informer(kind, options) as unknown as FleetInformer<ApiObject>;
    const informers = (this.#informers ??= new Map());
    let informer = informers.get(shared);
    if (!informer) {
      informer = new ViewInformer(shared, this.name, (handler) => this.#addHandler(shared, handler));
      informers.set(shared, informer);
    }
    return informer as unknown as Informer<T>;
  }

  /** Adds an index for all clusters of the fleet. */
  addIndex<T extends ApiObject>(kind: Kind<T>, name: string, values: IndexFunction<T>): void {
    this.#fleet.addIndex(kind, name, values);
  }

  async synced(signal?: AbortSignal): Promise<void> {
    await Promise.all(Array.from(this.#informers?.keys() ?? [], (informer) => informer.synced(signal)));
  }

  /** Keeps the view until the signal is aborted. The cache of the fleet runs independently. */
  async start(signal: AbortSignal): Promise<void> {
    if (this.#hasStarted) throw new RuntimeError('InvalidOptions', 'a cache can be started only once');
    this.#hasStarted = true;
    await aborted(signal);
    this.close();
  }

  /** Closes a view that was not started, and removes its handlers. Idempotent. */
  close(): void {
    this.#isClosed = true;
    for (const registration of this.#registrations ?? []) registration.remove();
    this.#informers = undefined;
    this.#fleet.forgetMoved(this.name);
  }

  #addHandler(informer: FleetInformer<ApiObject>, handler: EventHandler): Registration {
    const registrations = (this.#registrations ??= new Set());
    const registration = informer.addHandler(this.name, handler, () => registrations.delete(registration));
    registrations.add(registration);
    // A closed view must not keep the handler: nothing would remove it.
    if (this.#isClosed) registration.remove();
    return registration;
  }
}

class ViewInformer<T extends ApiObject> implements Informer<T> {
  readonly #shared: FleetInformer<T>;
  readonly #cluster: ClusterName;
  readonly addHandler: (handler: EventHandler<T>) => Registration;

  constructor(shared: FleetInformer<T>, cluster: ClusterName, addHandler: (handler: EventHandler<T>) => Registration) {
    this.#shared = shared;
    this.#cluster = cluster;
    this.addHandler = addHandler;
  }

  get kind(): Kind<T> {
    return this.#shared.kind;
  }

  get hasSynced(): boolean {
    return this.#shared.hasSynced;
  }

  get health(): InformerHealth {
    return this.#shared.health;
  }

  synced(signal?: AbortSignal): Promise<void> {
    return this.#shared.synced(signal);
  }

  get({ namespace, name }: ObjectKey): T | undefined {
    return this.#shared.storeOf(this.#cluster).get(this.kind.isNamespaced ? namespace : undefined, name);
  }

  all(namespace?: string): Iterable<T> {
    return this.#shared.storeOf(this.#cluster).all(namespace);
  }

  byIndex(index: string, value: string): Iterable<T> {
    return this.#shared.storeOf(this.#cluster).byIndex(index, value);
  }
}
