/**
 * Keeps one kind of all clusters of a fleet from one stream. Each cluster with objects or handlers has a replica, so that an event reaches
 * only the handlers of its cluster.
 *
 * A cluster that another server serves from now on leaves the stream. Its objects still exist, so no handler is called: the replica keeps
 * its last state until the provider has closed the view.
 */

import { ClientError, keyOf } from '@hangar/client';
import type { ApiObject, Client, Kind, ObjectKey } from '@hangar/client';
import type { ClusterName } from '../cluster.ts';
import { RuntimeError } from '../errors.ts';
import { inTurns } from '../in-turns.ts';
import { clusterOf, withoutCluster } from './cluster-of.ts';
import type { EventHandler, InformerHealth, InformerOptions, Registration } from './contract.ts';
import type { Indexes } from './indexes.ts';
import { Latch } from './latch.ts';
import { ObjectStore } from './object-store.ts';
import { Reflector } from './reflector.ts';
import type { ReflectorTarget } from './reflector.ts';
import { Replica } from './replica.ts';
import type { ReplicaOptions } from './replica.ts';
import { sourceOf } from './source.ts';
import type { Transform } from './transforms.ts';
import { keeper } from './world.ts';
import type { CacheWorld } from './world.ts';

export interface FleetInformerOptions<T extends ApiObject> {
  /** Client for all clusters. */
  readonly client: Client;
  readonly kind: Kind<T>;
  readonly options: InformerOptions<T>;
  readonly indexes: Indexes<T>;
  readonly world: CacheWorld;
  /** See `FleetCacheOptions`. */
  readonly isElsewhere?: IsElsewhere | undefined;
}

/** Reports whether another server serves the cluster, as of the time of the call. */
export type IsElsewhere = (cluster: ClusterName, signal: AbortSignal) => Promise<boolean>;

/** Annotation of a bookmark: the cluster leaves the stream, and the DELETED events of its objects that follow are not deletions. */
const movedCluster = 'tenancy.hangar.dev/moved-cluster';

interface Placed<T> {
  readonly cluster: ClusterName;
  readonly object: T;
}

export class FleetInformer<T extends ApiObject> implements ReflectorTarget<T, Placed<T>> {
  readonly kind: Kind<T>;
  readonly namespace: string | undefined;
  readonly #world: CacheWorld;
  readonly #replicaOptions: ReplicaOptions<T>;
  readonly #replicas = new Map<ClusterName, Replica<T>>();
  /** Clusters that left the stream and whose last state is kept. */
  readonly #moved = new Set<ClusterName>();
  readonly #isElsewhere: IsElsewhere | undefined;
  readonly #nothing: ObjectStore<T>;
  readonly #keep: Transform<T>;
  readonly #synced = new Latch();
  readonly #reflector: Reflector<T, Placed<T>>;
  #ended: Error | undefined;

  constructor({ client, kind, options, indexes, world, isElsewhere }: FleetInformerOptions<T>) {
    if (options.namespaces)
      throw new RuntimeError(
        'InvalidOptions',
        'the cache of a fleet supports one namespace or all namespaces, not a list of namespaces',
      );
    this.kind = kind;
    this.namespace = kind.isNamespaced ? options.namespace : undefined;
    this.#world = world;
    this.#isElsewhere = isElsewhere;
    this.#replicaOptions = { indexes, turns: world.turns, log: world.log };
    this.#nothing = new ObjectStore(indexes);
    this.#keep = keeper(world, kind, options.transform);
    const log = world.log?.child({ kind: kind.kind });
    this.#reflector = new Reflector({ ...world, source: sourceOf(client, kind, options), target: this, log });
  }

  get hasSynced(): boolean {
    return this.#synced.isOpen;
  }

  get health(): InformerHealth {
    return this.#reflector.health;
  }

  get resourceVersion(): string {
    return this.#reflector.resourceVersion;
  }

  covers(namespace: string | undefined): boolean {
    return this.namespace === undefined || this.namespace === namespace;
  }

  synced(signal?: AbortSignal): Promise<void> {
    return this.#synced.wait(signal);
  }

  /** See `Reflector.refreshed`. */
  refreshed(signal?: AbortSignal): Promise<void> {
    return this.#reflector.refreshed(signal);
  }

  /** Valid for immediate reads only: the store of the cluster may be replaced later. */
  storeOf(cluster: ClusterName): ObjectStore<T> {
    return this.#replicas.get(cluster)?.store ?? this.#nothing;
  }

  addHandler(cluster: ClusterName, handler: EventHandler<T>, onRemoved: () => void): Registration {
    const registration = this.#made(cluster).addHandler(handler, this.hasSynced, () => {
      this.#dropIfIdle(cluster);
      onRemoved();
    });
    if (this.#ended) registration.end(this.#ended);
    return registration;
  }

  fillIndex(name: string): void {
    for (const replica of this.#replicas.values()) replica.store.fillIndex(name);
  }

  /** Runs until the signal is aborted. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#reflector.run(signal);
    const ended = new RuntimeError('CacheNotSynced', `the cache of ${this.kind.plural} stopped before it was synced`);
    this.#ended = ended;
    this.#synced.fail(ended);
    for (const replica of this.#replicas.values()) replica.ended(ended);
  }

  keep(object: T): Placed<T> | undefined {
    const cluster = insistOnCluster(object);
    const kept = this.#keep(withoutCluster(object));
    return kept && { cluster, object: kept };
  }

  async replace(objects: Iterable<Placed<T>>, signal: AbortSignal): Promise<void> {
    const { clock } = this.#world;
    const isInitial = !this.hasSynced;
    const there = new Set<T>();
    const clusters = new Set<ClusterName>();
    const put = ({ cluster, object }: Placed<T>): void => {
      clusters.add(cluster);
      this.#moved.delete(cluster);
      there.add(this.#made(cluster).put(object, isInitial));
    };
    if (!(await inTurns({ clock, signal }, objects, put))) return;
    await this.#noticeMoved(clusters, signal);
    const removeGone = ({ cluster, object }: Placed<T>): void => {
      if (!there.has(object) && !this.#moved.has(cluster)) this.#remove(cluster, keyOf(object));
    };
    if (!(await inTurns({ clock, signal }, this.#all(), removeGone)) || !isInitial) return;
    this.#synced.open();
    for (const replica of this.#replicas.values()) replica.informerSynced();
  }

  /** Finds the clusters that left the stream before a list that has none of their objects. Rejects if that is unknown. */
  async #noticeMoved(listed: ReadonlySet<ClusterName>, signal: AbortSignal): Promise<void> {
    const missing = Array.from(this.#replicas, ([cluster, { store }]) => (store.size > 0 ? cluster : undefined));
    for (const cluster of missing) {
      if (cluster === undefined || listed.has(cluster) || this.#moved.has(cluster)) continue;
      if (await this.#isElsewhere?.(cluster, signal)) this.#moved.add(cluster);
    }
  }

  noted({ [movedCluster]: cluster }: Readonly<Record<string, string>>): void {
    if (cluster !== undefined && this.#replicas.has(cluster)) this.#moved.add(cluster);
  }

  /** Drops the state of a cluster that left the stream, without events: its view was closed. */
  forgetMoved(cluster: ClusterName): void {
    if (this.#moved.delete(cluster)) this.#replicas.delete(cluster);
  }

  put(object: T): void {
    const cluster = insistOnCluster(object);
    if (this.#moved.delete(cluster)) this.#returned();
    const key = keyOf(object);
    const kept = this.#keep(withoutCluster(object));
    if (kept) this.#made(cluster).put(kept, false);
    else this.#remove(cluster, key);
  }

  remove(object: T): void {
    const cluster = insistOnCluster(object);
    if (this.#moved.has(cluster)) return;
    this.#remove(cluster, keyOf(object), this.#keep(withoutCluster(object)));
  }

  /** A list finds the objects that were deleted while the cluster was away and its view stayed open. */
  #returned(): void {
    this.#reflector.refreshed().catch(() => undefined);
  }

  #remove(cluster: ClusterName, key: ObjectKey, last?: T): void {
    this.#replicas.get(cluster)?.remove(key, last);
    this.#dropIfIdle(cluster);
  }

  *#all(): Generator<Placed<T>, void, void> {
    for (const [cluster, replica] of this.#replicas) {
      for (const object of replica.store.all()) yield { cluster, object };
    }
  }

  #made(cluster: ClusterName): Replica<T> {
    let replica = this.#replicas.get(cluster);
    if (!replica) this.#replicas.set(cluster, (replica = new Replica(this.#replicaOptions)));
    return replica;
  }

  #dropIfIdle(cluster: ClusterName): void {
    const replica = this.#replicas.get(cluster);
    if (replica && !replica.hasHandlers && replica.store.size === 0) this.#replicas.delete(cluster);
  }
}

/** Throws `MalformedAnswer` for an object without a cluster. */
function insistOnCluster(object: ApiObject): ClusterName {
  const cluster = clusterOf(object);
  if (cluster) return cluster;
  throw new ClientError(
    'MalformedAnswer',
    'received an object without metadata.clusterName: the client must be a client for all clusters',
  );
}
