/**
 * Starts and stops all parts of a process in order. Each step completes before the next one begins:
 *
 *   start                         stop
 *   1  probes, metrics            1  runnables that need leadership: take no more work, drain
 *   2  webhooks                   2  other runnables; queued events are written
 *   3  caches of the cluster      3  clusters: released, or handed over
 *   4  clusters, others           4  caches
 *   5  leader election            5  webhooks
 *   6  runnables that need        6  the lease: released if all that needed leadership has stopped; otherwise it expires
 *      leadership                 7  probes, metrics
 *
 * Webhooks start before caches, because listed objects may need their conversion.
 *
 * A runnable that fails stops the manager with its error. Failed reconciles are retried by their controller. The manager does not handle
 * uncaught exceptions: Node terminates the process, and another one takes over.
 */

import type { ApiObject, Kind } from '@hangar/client';
import { aborted, asError, hasCode, Logger, systemClock, systemRandom } from '@hangar/core';
import type { Clock, Random } from '@hangar/core';
import { bounded } from '../bounded.ts';
import type { IndexFunction } from '../cache/contract.ts';
import type { Cluster } from '../cluster.ts';
import type { Clusters, Ownership } from '../clusters/contract.ts';
import type { ClusterEngine } from '../clusters/engage/engine.ts';
import { Controller } from '../controller/controller.ts';
import { newController } from '../controller/new-controller.ts';
import type { ControllerOptions } from '../controller/options.ts';
import { RuntimeError } from '../errors.ts';
import { EventRecorder } from '../events/event-recorder.ts';
import type { LeaderElector } from '../leader-election/leader-elector.ts';
import { MetricsRegistry } from '../metrics/registry.ts';
import type { WebhookServer } from '../webhooks/webhook-server.ts';
import { webhooksListen } from './beginnings.ts';
import { Deadline } from './deadline.ts';
import { Endpoints } from './endpoints.ts';
import { Group } from './group.ts';
import type { HealthCheck } from './health.ts';
import type { Reply } from './http-server.ts';
import { keepAlive } from './keep-alive.ts';
import { LeaderGate, ledCluster } from './leader-gate.ts';
import type { ManagerAddOptions, ManagerOptions, ManagerRunOptions } from './manager-options.ts';
import { allClusters, given, newElector, newEngine, newLocalCluster } from './parts.ts';
import { addProcessMetrics } from './process-metrics.ts';
import { asRunnable, isAbort } from './runnable.ts';
import type { Runnable, RunnableFunction } from './runnable.ts';

const eventsTimeoutMs = 5_000;
/** Time for the release of the lease after all other timeouts. */
const releaseTimeoutMs = 2_000;

/**
 * Runs controllers, caches, webhooks and leader election as one process. `newManager` creates one for the cluster of a kubeconfig or pod.
 */
export class Manager {
  /** The local cluster. Its writes do not require leadership. */
  readonly cluster: Cluster;
  /** All clusters by name; the local cluster is ''. */
  readonly clusters: Clusters;
  readonly webhooks: WebhookServer | undefined;
  readonly registry: MetricsRegistry;
  readonly log: Logger;
  readonly #options: ManagerOptions;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #endpoints: Endpoints;
  readonly #engine: ClusterEngine | undefined;
  readonly #isShared: boolean;
  readonly #elector: LeaderElector | undefined;
  readonly #gate: LeaderGate | undefined;
  readonly #ledCluster: Cluster;
  readonly #recorders = new Map<string, EventRecorder>();
  readonly #groups: Readonly<Record<'webhooks' | 'caches' | 'fleet' | 'others' | 'leaders', Group>>;
  /** Controllers that are not engaged yet; true: the controller waits for leadership. */
  readonly #unengaged = new Map<Controller, boolean>();
  readonly #engaged = new AbortController();
  readonly #stopping = new AbortController();
  readonly #elected = Promise.withResolvers<void>();
  /** Resolves when the lease can be released: true if everything that needed leadership has stopped. */
  readonly #released = Promise.withResolvers<boolean>();
  #electing: Promise<void> = Promise.resolve();
  #isEngaging = false;
  #hasRun = false;
  #isCacheFilled = false;
  #failure: Error | undefined;

  /** Throws `InvalidOptions`. */
  constructor(options: ManagerOptions) {
    const { clock = systemClock, random = systemRandom, leaderElection } = options;
    this.#options = options;
    this.#clock = clock;
    this.#random = random;
    this.log = options.log ?? new Logger({ level: 'info', format: 'text', clock });
    this.registry = options.registry ?? new MetricsRegistry();
    addProcessMetrics(this.registry, clock);
    const parts = { clock, random, log: this.log, metrics: this.registry };
    this.cluster = newLocalCluster(options, parts);
    this.#gate = leaderElection && new LeaderGate();
    this.#ledCluster = this.#gate ? ledCluster(this.cluster, this.#gate, clock) : this.cluster;
    this.#elector = leaderElection && newElector(leaderElection, this.cluster, parts);
    const world = { ...parts, local: this.cluster, client: options.client ?? this.cluster.client };
    const setup = given(options.clusters, world);
    this.#isShared = setup?.coordinator !== undefined;
    this.#engine = setup && newEngine(setup, this.#gate, parts);
    this.clusters = allClusters(this.cluster, this.#engine);
    this.webhooks = given(options.webhooks, world);
    const { metrics, health } = options;
    this.#endpoints = new Endpoints({ metrics, health, registry: this.registry, clock, log: this.log });
    this.#groups = {
      webhooks: this.#newGroup('webhooks'),
      caches: this.#newGroup('caches'),
      fleet: this.#newGroup('fleet'),
      others: this.#newGroup('others'),
      leaders: this.#newGroup('leaders'),
    };
    this.#addBuiltins();
  }

  /** True while this process is the leader, or runs without leader election. */
  get isLeader(): boolean {
    return this.#elector?.isLeader ?? (this.#hasRun && !this.#stopping.signal.aborted);
  }

  /** Resolves when the runnables that need leadership have started. */
  get elected(): Promise<void> {
    return this.#elected.promise;
  }

  /** Ports of the metrics and health endpoints. */
  get ports(): readonly number[] {
    return this.#endpoints.ports;
  }

  /** Creates a controller with the clock, log and metrics of the manager, and adds it. */
  controller<F extends ApiObject, const O extends readonly ApiObject[] = [], const W extends readonly ApiObject[] = []>(
    options: ControllerOptions<F, O, W>,
    add?: ManagerAddOptions,
  ): Controller {
    const { log, registry: metrics } = this;
    const controller = newController<F, O, W>({
      log,
      metrics,
      clock: this.#clock,
      random: this.#random,
      ...options,
    });
    this.add(controller, add);
    return controller;
  }

  /** Adds a controller or a runnable. While the manager runs, it is started immediately. */
  add(given: Controller | Runnable | RunnableFunction, { needsLeadership }: ManagerAddOptions = {}): void {
    const isController = given instanceof Controller;
    const isLed = needsLeadership ?? !(isController && this.#isShared);
    if (isController) {
      this.#unengaged.set(given, isLed);
      this.#engine?.addAware(given);
      if (this.#isEngaging) this.#engageControllers();
    }
    this.#groups[isLed ? 'leaders' : 'others'].add(asRunnable(given));
  }

  /** Adds an index to the cache of the local cluster and of all current and future clusters of the fleet. */
  addIndex<T extends ApiObject>(kind: Kind<T>, name: string, values: IndexFunction<T>): void {
    this.cluster.cache.addIndex(kind, name, values);
    this.#engine?.addIndex(kind, name, values);
  }

  /** Adds a check to `/healthz` and `/livez`. */
  addHealthCheck(name: string, check: HealthCheck): void {
    this.#endpoints.healthz.add(name, check);
  }

  /** Adds a check to `/readyz`. */
  addReadyCheck(name: string, check: HealthCheck): void {
    this.#endpoints.readyz.add(name, check);
  }

  /** Returns the Event recorder of a component. Queued Events are written when the manager stops. */
  recorder(component: string): EventRecorder {
    const known = this.#recorders.get(component);
    if (known) return known;
    const { log, registry: metrics } = this;
    const recorder = new EventRecorder({ component, log, metrics, clock: this.#clock, random: this.#random });
    this.#recorders.set(component, recorder);
    return recorder;
  }

  /** Returns the response of a health endpoint, such as `/readyz?verbose`, without a socket. */
  answer(target: string): Promise<Reply> {
    return this.#endpoints.answer(target);
  }

  /**
   * Runs until the signal is aborted, and resolves when everything has stopped. Rejects with the error of a failed runnable, with
   * `LeadershipLost` or with `ShutdownTimedOut`; the process should then exit. Can be called once.
   */
  async run(signal: AbortSignal, { forceSignal }: ManagerRunOptions = {}): Promise<void> {
    if (this.#hasRun) throw new RuntimeError('InvalidOptions', 'a manager can run only once');
    this.#hasRun = true;
    const alive = keepAlive();
    const onAbort = () => this.#stopping.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    let unfinished: string[];
    try {
      await this.#begin();
      await aborted(this.#stopping.signal);
    } catch (error) {
      if (!(this.#stopping.signal.aborted && isAbort(error))) this.#fail(asError(error));
    } finally {
      signal.removeEventListener('abort', onAbort);
      unfinished = await this.#end(forceSignal);
      alive[Symbol.dispose]();
    }
    if (this.#failure) throw this.#failure;
    if (unfinished.length > 0) {
      throw new RuntimeError('ShutdownTimedOut', `not stopped within the grace period: ${unfinished.join(', ')}`);
    }
  }

  async #begin(): Promise<void> {
    const { signal } = this.#stopping;
    const { webhooks, caches, fleet, others, leaders } = this.#groups;
    if (signal.aborted) return;
    await this.#endpoints.listen();
    webhooks.start();
    if (this.webhooks) await webhooksListen(this.webhooks, this.#clock, signal);
    this.#isEngaging = true;
    this.#engageControllers();
    caches.start();
    await this.#cachesFill(signal);
    if (!this.#isFleetLed) fleet.start();
    others.start();
    this.log.info('manager started', { ports: this.ports });
    if (this.#elector) {
      this.#electing = this.#elector
        .run(signal, (ownership) => this.#lead(ownership))
        .catch((error: unknown) => this.#fail(asError(error)));
      return;
    }
    leaders.start();
    this.#elected.resolve();
  }

  async #lead(ownership: Ownership): Promise<boolean> {
    this.#gate!.open(ownership);
    this.#engageControllers();
    this.#groups.fleet.start();
    this.#groups.leaders.start();
    this.#elected.resolve();
    await aborted(ownership.signal);
    // Leadership was lost, unless the manager itself stops.
    if (!this.#stopping.signal.aborted) this.#fail(asError(ownership.signal.reason));
    return this.#released.promise;
  }

  /** True when only the leader works with the clusters of the fleet. */
  get #isFleetLed(): boolean {
    return this.#elector !== undefined && !this.#isShared && this.#options.warmUp === false;
  }

  /** Engages the controllers that may start. Without `warmUp`, those that need leadership wait until this process leads. */
  #engageControllers(): void {
    const { warmUp = true } = this.#options;
    const mayBeLed = warmUp || !this.#elector || this.#elector.isLeader;
    for (const [controller, isLed] of this.#unengaged) {
      if (isLed && !mayBeLed) continue;
      this.#unengaged.delete(controller);
      const hasProvider = this.#engine !== undefined;
      const fence = isLed && this.#gate ? { ownership: this.#gate } : {};
      const cluster = isLed ? this.#ledCluster : this.cluster;
      controller.engageLocal(cluster, this.#engaged.signal, { hasProvider, ...fence });
    }
  }

  async #cachesFill(signal: AbortSignal): Promise<void> {
    const { cacheSyncTimeoutMs = 120_000 } = this.#options;
    const bound = { clock: this.#clock, timeoutMs: cacheSyncTimeoutMs, signal };
    const filled = async (): Promise<void> => {
      await this.cluster.cache.synced(this.#engaged.signal);
      this.#isCacheFilled = true;
    };
    try {
      await bounded(bound, filled);
    } catch (error) {
      if (!hasCode(error, 'TimedOut')) throw error;
      this.log.warn('timed out waiting for caches to sync; each controller waits for its own caches', {
        waitedMs: cacheSyncTimeoutMs,
      });
    }
  }

  /** Stops everything and returns the names of the runnables that did not stop in time. Never rejects. */
  async #end(force: AbortSignal | undefined): Promise<string[]> {
    const { webhooks, caches, fleet, others, leaders } = this.#groups;
    const reason: unknown = this.#stopping.signal.reason;
    this.log.info('stopping the manager', this.#failure ? { error: this.#failure } : { reason: String(reason) });
    const deadline = new Deadline(this.#clock, this.#graceMs(), force);
    const ended = async (group: Group): Promise<void> => {
      group.stop(reason);
      await deadline.wait(group.ended());
    };
    await ended(leaders);
    await ended(others);
    this.#engaged.abort(reason);
    // While this process may still write to the local cluster and to its fleet.
    const eventsMs = Math.min(deadline.remainingMs, eventsTimeoutMs);
    await Promise.all(Array.from(this.#recorders.values(), (recorder) => recorder.close(eventsMs)));
    await ended(fleet);
    await ended(caches);
    await ended(webhooks);
    this.#released.resolve(leaders.running.length === 0);
    await this.#within(Math.max(deadline.remainingMs, force?.aborted ? 0 : releaseTimeoutMs), this.#electing);
    deadline.close();
    await this.#endpoints.close();
    if (this.#options.closesClient) await this.#within(releaseTimeoutMs, this.#options.client?.close());
    const unfinished = [leaders, others, fleet, caches, webhooks].flatMap(({ running }) => running);
    if (unfinished.length > 0) this.log.error('some runnables did not stop within the grace period', { unfinished });
    return unfinished;
  }

  /** After the loss of the lease, only the time until another process may start remains. */
  #graceMs(): number {
    const { gracefulShutdownTimeoutMs = 30_000, leaderElection } = this.#options;
    if (!leaderElection || (this.#failure as { code?: unknown } | undefined)?.code !== 'LeadershipLost') {
      return gracefulShutdownTimeoutMs;
    }
    const { leaseDurationMs = 15_000, renewDeadlineMs = 10_000 } = leaderElection;
    return Math.min(gracefulShutdownTimeoutMs, leaseDurationMs - renewDeadlineMs);
  }

  async #within(timeoutMs: number, promise: Promise<unknown> | undefined): Promise<void> {
    const deadline = new Deadline(this.#clock, timeoutMs);
    await deadline.wait(promise ?? Promise.resolve());
    deadline.close();
  }

  /** The first error counts. */
  #fail(error: Error): void {
    if (this.#failure) return this.log.error('a further error while the manager stops', { error });
    this.#failure = error;
    this.#stopping.abort(error);
  }

  #newGroup(name: string): Group {
    return new Group({
      name,
      onFailure: (error, runnable, isEnding) => {
        if (isEnding) this.log.error('runnable failed while stopping', { runnable, error });
        else this.#fail(error);
      },
    });
  }

  #addBuiltins(): void {
    const { webhooks } = this;
    const [engine, cluster] = [this.#engine, this.cluster];
    this.#groups.caches.add({ name: 'cache', start: (signal) => cluster.start(signal) });
    if (webhooks) this.#groups.webhooks.add(webhooks);
    if (engine) {
      this.#groups.fleet.add({ name: 'clusters', start: (signal) => engine.run(signal) });
      const isWell = () => engine.isSynced || (this.#isFleetLed && !this.isLeader);
      this.addReadyCheck('clusters', () => this.#refuseUnless(isWell(), 'waiting for the discovery of clusters'));
    }
    this.addHealthCheck('ping', () => {});
    this.addReadyCheck('shutdown', () => this.#refuseUnless(!this.#stopping.signal.aborted, 'stopping the manager'));
    this.addReadyCheck('caches', () => this.#refuseUnless(this.#isCacheFilled, 'waiting for caches to sync'));
    if (webhooks) this.addReadyCheck('webhooks', () => webhooks.started());
  }

  #refuseUnless(isWell: boolean, message: string): void {
    if (!isWell) throw new Error(message);
  }
}
