/**
 * A controller and its clusters. Engagement and start are independent: sources fill caches and the queue as soon as a cluster is engaged,
 * so that a process that waits for leadership is warm when it leads; `start` dispatches requests.
 *
 * The requests of a cluster wait until the caches of its sources are synced; other clusters are not delayed.
 */

import { aborted, asError, hasCode } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import { localCluster } from '../cluster.ts';
import type { Cluster, ClusterName } from '../cluster.ts';
import type { Aware, EngageOptions, Engagement } from '../clusters/contract.ts';
import { RuntimeError } from '../errors.ts';
import { Queue } from '../queue/queue.ts';
import { ControllerMetrics } from './controller-metrics.ts';
import { EngagedCluster } from './engaged-cluster.ts';
import { LocalReplay } from './local-replay.ts';
import type { RequestLike } from './options.ts';
import type { Request } from './reconcile.ts';
import type { ResolvedOptions } from './resolved-options.ts';
import { Workers } from './workers.ts';

/** Options of `Controller.trigger`. */
export interface TriggerOptions {
  readonly priority?: number;
  readonly afterMs?: number;
}

const nothing: Engagement = { drained: () => Promise.resolve(), abandon: () => {} };

/** Watches the sources of its clusters and calls the reconciler. Created by `newController` or `Manager.controller`. */
export class Controller implements Aware {
  readonly name: string;
  readonly #options: ResolvedOptions;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #queue: Queue;
  readonly #metrics: ControllerMetrics;
  readonly #workers: Workers;
  /** Replays the requests of local watches for clusters that are engaged later. */
  readonly #localReplay: LocalReplay;
  /** Engaged clusters, including replaced clusters whose replacement is not engaged yet. */
  readonly #engaged = new Map<ClusterName, EngagedCluster>();
  #state: 'new' | 'running' | 'stopped' = 'new';

  constructor(options: ResolvedOptions) {
    const { name, clock, metrics } = options;
    this.name = name;
    this.#options = options;
    this.#clock = clock;
    this.#log = options.log.child({ controller: name });
    this.#metrics = new ControllerMetrics(name, metrics, () => ({
      active: this.#workers.active,
      stuck: this.#workers.stuck,
      engaged: [...this.engagedClusters()].length,
      concurrency: options.concurrency,
    }));
    this.#queue = new Queue({ ...options.queue, name, clock, onReady: () => this.#workers.wake() });
    this.#workers = new Workers({
      ...options,
      controller: name,
      queue: this.#queue,
      metrics: this.#metrics,
      log: this.#log,
      engagedAs: (cluster) => this.#workedOn(cluster),
    });
    this.#localReplay = new LocalReplay({
      clock,
      everything: () => this.#saidLocally(),
      enqueue: (request) => this.#enqueueLocal(request),
      onFailure: (error) => this.#log.error('failed to replay the watches of the local cluster', { error }),
    });
  }

  /** Number of queued requests: ready, delayed, or to be repeated. */
  get queueLength(): number {
    return this.#queue.length;
  }

  /** Iterates over the engaged clusters. */
  *engagedClusters(): Generator<ClusterName, void, void> {
    for (const name of this.#engaged.keys()) if (this.#workedOn(name)) yield name;
  }

  /** Offers the local cluster to the controller. The options of the controller decide whether it is used. */
  engageLocal(
    cluster: Cluster,
    signal: AbortSignal,
    { hasProvider, ...options }: EngageOptions & { readonly hasProvider: boolean },
  ): Engagement {
    return this.#engageAs(localCluster, cluster, signal, {
      ...options,
      isOnlyWatched: !(this.#options.engageLocal ?? !hasProvider),
    });
  }

  engage(name: ClusterName, cluster: Cluster, signal: AbortSignal, options: EngageOptions = {}): Engagement {
    const isOnlyWatched = name === localCluster && this.#options.engageLocal === false;
    if (name !== localCluster && !this.#isWanted(name, cluster)) return nothing;
    return this.#engageAs(name, cluster, signal, { ...options, isOnlyWatched });
  }

  /** Enqueues a request that no source reports. The request is dropped if its cluster is not engaged when it is processed. */
  trigger(request: RequestLike, options?: TriggerOptions): void {
    this.#enqueue(request, request.cluster ?? localCluster, options);
  }

  /** Runs the workers until the signal is aborted, and resolves when no worker is busy. Can be called once. */
  async start(signal: AbortSignal): Promise<void> {
    if (this.#state !== 'new') throw new RuntimeError('InvalidOptions', `controller ${this.name} is already started`);
    this.#state = 'running';
    this.#workers.start();
    await aborted(signal);
    this.#state = 'stopped';
    void this.#queue.shutDown();
    const idle = this.#workers.stop();
    for (const engaged of this.#engaged.values()) this.#lost(engaged, signal.reason);
    await idle;
  }

  #engageAs(
    name: ClusterName,
    cluster: Cluster,
    signal: AbortSignal,
    options: EngageOptions & { readonly isOnlyWatched: boolean },
  ): Engagement {
    const sources = this.#options.sources.filter(({ isLocal }) =>
      isLocal ? name === localCluster : !options.isOnlyWatched,
    );
    if (this.#state === 'stopped' || signal.aborted || (options.isOnlyWatched && sources.length === 0)) return nothing;
    const log = this.#log.child({ cluster: name });
    const before = this.#engaged.get(name);
    const engaged = new EngagedCluster({
      ...options,
      before,
      name,
      cluster,
      sources,
      rawSources: options.isOnlyWatched ? [] : this.#options.rawSources,
      clock: this.#clock,
      log,
      priorityOfInitial: this.#options.priorityOfInitial,
      cacheSyncTimeoutMs: this.#options.cacheSyncTimeoutMs,
      enqueue: (request, options) => this.#enqueue(request, name, options),
      everything: (isEverywhere) => this.#everything(isEverywhere ? this.engagedClusters() : [name]),
      onSourceFailure: () => this.#metrics.sourceFailed(),
    });
    before?.end(new RuntimeError('ClusterReplaced', 'the cluster was replaced'));
    this.#engaged.set(name, engaged);
    this.#queue.pause(name);
    void this.#begin(engaged);
    const onAbort = (): void => {
      if (hasCode(signal.reason, 'ClusterReplaced')) this.#replaced(engaged, signal.reason);
      else this.#lost(engaged, signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    engaged.onEnd = () => signal.removeEventListener('abort', onAbort);
    return { drained: () => engaged.drained(), abandon: () => this.#lost(engaged, signal.reason) };
  }

  async #begin(engaged: EngagedCluster): Promise<void> {
    await engaged.begin();
    if (engaged.hasEnded) return;
    this.#queue.resume(engaged.name);
    const hasLocal = this.#options.sources.some(({ isLocal }) => isLocal);
    if (hasLocal && engaged.name !== localCluster) this.#localReplay.tell(engaged.name);
  }

  /** Iterates over the requests of all objects of the local watches. */
  *#saidLocally(): Generator<RequestLike, void, void> {
    for (const feed of this.#engaged.get(localCluster)?.feeds ?? []) if (feed.source.isLocal) yield* feed.replayed();
  }

  /** A replacement follows: the queued requests wait for it. */
  #replaced(engaged: EngagedCluster, reason: unknown): void {
    engaged.end(reason);
    if (this.#engaged.get(engaged.name) === engaged) this.#queue.pause(engaged.name);
  }

  #lost(engaged: EngagedCluster, reason: unknown): void {
    const { name } = engaged;
    engaged.end(reason);
    // If the replacement is engaged already, the queued requests belong to it.
    if (this.#engaged.get(name) !== engaged) return;
    engaged.isLost = true;
    this.#engaged.delete(name);
    void this.#queue.removeCluster(name);
    this.#queue.resume(name);
  }

  *#everything(clusters: Iterable<ClusterName>): Generator<RequestLike, void, void> {
    for (const name of clusters) yield* this.#workedOn(name)?.ownRequests() ?? [];
  }

  #workedOn(name: ClusterName): EngagedCluster | undefined {
    const engaged = this.#engaged.get(name);
    return engaged && !engaged.hasEnded && !engaged.isOnlyWatched ? engaged : undefined;
  }

  #isWanted(name: ClusterName, cluster: Cluster): boolean {
    const { engageProviderClusters, clusterFilter } = this.#options;
    if (!engageProviderClusters) return false;
    try {
      return clusterFilter?.(name, cluster) ?? true;
    } catch (error) {
      this.#log.error('cluster filter failed', { cluster: name, error: asError(error) });
      return false;
    }
  }

  #enqueueLocal(request: RequestLike): void {
    if (!this.#workedOn(request.cluster ?? localCluster)) return;
    this.#enqueue(request, localCluster, { priority: this.#options.priorityOfInitial });
  }

  /** Copies the request: a mapping may return a whole object, or change it later. */
  #enqueue({ cluster, namespace, name }: RequestLike, where: ClusterName, options?: TriggerOptions): void {
    const request: Request = { cluster: cluster ?? where, namespace, name };
    this.#queue.add(request, options);
  }
}
