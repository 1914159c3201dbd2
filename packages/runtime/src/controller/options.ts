/** Options of controllers. */

import type { ApiObject, Kind } from '@hangar/client';
import type { Clock, Logger, Random } from '@hangar/core';
import type { Cluster, ClusterName } from '../cluster.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';
import type { RateLimit } from '../queue/rate-limit.ts';
import type { Predicate } from './predicate.ts';
import type { Reconciler, Request } from './reconcile.ts';

/** A request whose cluster defaults to the cluster of the event. */
export type RequestLike = Omit<Request, 'cluster'> & Partial<Pick<Request, 'cluster'>>;

/**
 * Maps an object to requests. Called for the old and the new state of an update, so that a former owner is enqueued as well. Mappings are
 * synchronous: use `cluster.cache` and an index to look up objects.
 */
export type Mapping<T extends ApiObject = ApiObject> = (object: T, cluster: Cluster) => Iterable<RequestLike>;

/** A kind with predicates. */
export interface ForOptions<T extends ApiObject> {
  readonly kind: Kind<T>;
  readonly where?: Predicate<T>;
}

/** An owned kind with predicates. */
export interface OwnsOptions<T extends ApiObject> extends ForOptions<T> {
  /** Also maps to owners that are not the controller of the object. */
  readonly anyOwner?: boolean;
}

/** A watched kind with predicates and a mapping to requests. */
export interface WatchesOptions<T extends ApiObject> extends ForOptions<T> {
  /**
   * Maps an object to requests. `all` enqueues every object of the kind in `for`: in the cluster of the event, or for a local watch in
   * every cluster. Use it for objects that all others depend on.
   */
  readonly map: Mapping<T> | 'all';
  /**
   * Watches in every engaged cluster, or in the local cluster only. Events of a local watch are replayed for clusters that are engaged
   * later. Absent: `engaged`.
   */
  readonly cluster?: 'engaged' | 'local';
}

/** The environment of a custom source, created for each engaged cluster. */
export interface SourceContext {
  readonly cluster: Cluster;
  enqueue(request: RequestLike, options?: { readonly priority?: number; readonly afterMs?: number }): void;
  readonly log: Logger;
}

/**
 * A custom source. Runs until the signal is aborted. Workers start without waiting for it. A rejection is logged, and the source is run
 * again after a delay.
 */
export type RawSource = (context: SourceContext, signal: AbortSignal) => Promise<void>;

/** Options of a controller. The type parameters carry the object types of `for`, `owns` and `watches` to their predicates and mappings. */
export interface ControllerOptions<
  F extends ApiObject = ApiObject,
  O extends readonly ApiObject[] = readonly ApiObject[],
  W extends readonly ApiObject[] = readonly ApiObject[],
> {
  /** Name for metrics and logs. Must be unique in the process. */
  readonly name: string;
  /** Reconciles every object of this kind. */
  readonly for?: Kind<F> | ForOptions<F>;
  /** Reconciles the owner, which is of the kind in `for`, when an object of these kinds changes. */
  readonly owns?: { readonly [I in keyof O]: Kind<O[I]> | OwnsOptions<O[I]> };
  readonly watches?: { readonly [I in keyof W]: WatchesOptions<W[I]> };
  readonly sources?: readonly RawSource[];
  readonly reconcile: Reconciler;
  /** Maximum number of concurrent reconciles. Absent: 1. */
  readonly concurrency?: number;
  /**
   * Maximum number of concurrent reconciles of one cluster. Absent: no limit. It prevents that one slow cluster uses all workers. See
   * also `reconcileTimeoutMs`.
   */
  readonly maxPerCluster?: number;
  readonly rateLimit?: RateLimit;
  /** Priority of objects that existed before the controller, and of resyncs without a change. Absent: -100, as in controller-runtime. */
  readonly priorityOfInitial?: number;
  /**
   * Time after which the signal of a reconcile is aborted. After `reconcileGraceMs` its worker is reused; its request stays locked until
   * the reconciler returns. Absent: no limit.
   */
  readonly reconcileTimeoutMs?: number;
  /** Time that an aborted reconcile has to return. Absent: 5 s. */
  readonly reconcileGraceMs?: number;
  /** Time after which workers start even if some caches of the cluster are not synced. Absent: 2 min. */
  readonly cacheSyncTimeoutMs?: number;
  /** Reconciles objects of the local cluster. Absent: only if there is no provider. */
  readonly engageLocal?: boolean;
  /** Reconciles objects of the clusters of the provider. Absent: true. */
  readonly engageProviderClusters?: boolean;
  readonly clusterFilter?: (name: ClusterName, cluster: Cluster) => boolean;
  readonly metrics?: MetricsRegistry;
  /** Absent: logs level info and above to standard error. */
  readonly log?: Logger;
  readonly clock?: Clock;
  readonly random?: Random;
}
