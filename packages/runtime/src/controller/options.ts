/** What a controller is built of. */

import type { ApiObject, Kind } from '@hangar/client';
import type { Clock, Logger, Random } from '@hangar/core';
import type { Cluster, ClusterName } from '../cluster.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';
import type { RateLimit } from '../queue/rate-limit.ts';
import type { Predicate } from './predicate.ts';
import type { Reconciler, Request } from './reconcile.ts';

/** Of the cluster where the event was, unless it says another. */
export type RequestLike = Omit<Request, 'cluster'> & Partial<Pick<Request, 'cluster'>>;

/**
 * Which requests an event of an object means. Called for the state before and after an update, so that an owner that lost the
 * object is told, too. Synchronous: look things up in `cluster.cache`, by an index.
 */
export type Mapping<T extends ApiObject = ApiObject> = (object: T, cluster: Cluster) => Iterable<RequestLike>;

export interface ForOptions<T extends ApiObject> {
  readonly kind: Kind<T>;
  readonly where?: Predicate<T>;
}

export interface OwnsOptions<T extends ApiObject> extends ForOptions<T> {
  /** Also owners that are not the controller of the object. */
  readonly anyOwner?: boolean;
}

export interface WatchesOptions<T extends ApiObject> extends ForOptions<T> {
  /**
   * `all`: every object of the kind in `for` is to be looked at again, in the cluster where the event was; of a local watch, in every
   * cluster. For what all of them depend on.
   */
  readonly map: Mapping<T> | 'all';
  /**
   * Where to watch: in every engaged cluster, or in the local one only, whether or not the controller works on it. What a local
   * watch says about a cluster that is engaged later is told again then. Absent: engaged.
   */
  readonly cluster?: 'engaged' | 'local';
}

/** What a source of the user's own is given, once for each engaged cluster. */
export interface SourceContext {
  readonly cluster: Cluster;
  enqueue(request: RequestLike, options?: { readonly priority?: number; readonly afterMs?: number }): void;
  readonly log: Logger;
}

/** Runs until the signal. Dispatch does not wait for it. A rejection is reported, and it is run again after a while. */
export type RawSource = (context: SourceContext, signal: AbortSignal) => Promise<void>;

/** Three lists of types, so that every predicate and mapping knows the type of its kind. */
export interface ControllerOptions<
  F extends ApiObject = ApiObject,
  O extends readonly ApiObject[] = readonly ApiObject[],
  W extends readonly ApiObject[] = readonly ApiObject[],
> {
  /** Unique in the process; for metrics and logs. */
  readonly name: string;
  /** Every object of this kind is a request. */
  readonly for?: Kind<F> | ForOptions<F>;
  /** Events of these are requests for the object of the kind in `for` that owns them. */
  readonly owns?: { readonly [I in keyof O]: Kind<O[I]> | OwnsOptions<O[I]> };
  readonly watches?: { readonly [I in keyof W]: WatchesOptions<W[I]> };
  readonly sources?: readonly RawSource[];
  readonly reconcile: Reconciler;
  /** How many requests are under way at a time; absent: 1. */
  readonly concurrency?: number;
  /**
   * How many of them may be of one cluster; absent: all. In a fleet it keeps a slow cluster from having every worker: see also
   * `reconcileTimeoutMs`.
   */
  readonly maxPerCluster?: number;
  readonly rateLimit?: RateLimit;
  /** Of what was there before the controller, and of what is told again though nothing changed; absent: -100, as in controller-runtime. */
  readonly priorityOfInitial?: number;
  /**
   * After this time the signal of a reconcile fires, and after the grace its worker is given to others. It cannot be ended by
   * force: its request stays locked until it does. Absent: no limit.
   */
  readonly reconcileTimeoutMs?: number;
  /** Absent: 5 s. */
  readonly reconcileGraceMs?: number;
  /** After this time a cluster's requests are dispatched though not every cache has been filled; absent: 2 min. */
  readonly cacheSyncTimeoutMs?: number;
  /** Also work on the local cluster. Absent: when there is no provider. */
  readonly engageLocal?: boolean;
  /** Absent: yes. */
  readonly engageProviderClusters?: boolean;
  readonly clusterFilter?: (name: ClusterName, cluster: Cluster) => boolean;
  readonly metrics?: MetricsRegistry;
  /** Absent: information and worse, to standard error. */
  readonly log?: Logger;
  readonly clock?: Clock;
  readonly random?: Random;
}
