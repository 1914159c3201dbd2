/**
 * Runs one controller: its queue, its workers, its metrics.
 *
 *     changed ──ask──▶ queue ──▶ worker ──▶ success: forgotten        error, requeue: again with back-off
 *                                           requeueAfterMs: then      Terminal: not again
 *
 * Control planes do not delay each other: they take turns in the queue, each may use only some of the workers, and slow reconciles are
 * aborted. An unexpected exception of a controller is only logged.
 */

import { CodedError, runForTenant } from '@hangar/core';
import { ControllerMetrics, failureOf, Queue, Turn } from '@hangar/runtime';
import type { MetricsRegistry, RateLimit, Request, Result, Taken } from '@hangar/runtime';
import type { Ask, Change, FleetController, RemoteWorld } from '../contract.ts';
import { Run } from './run.ts';

type LaneWorld = Pick<RemoteWorld, 'clock' | 'log' | 'clientOf'>;

export interface LaneOptions {
  readonly controller: FleetController;
  readonly world: LaneWorld;
  readonly registry?: MetricsRegistry | undefined;
  /** Requests of other control planes are dropped when they are taken. */
  isServed(cluster: string): boolean;
}

/** Reconciles mostly wait, for example for a slow webhook: many run concurrently, and few of one control plane. */
const defaultConcurrency = 64;
const defaultPerCluster = 2;
/** Initial objects wait behind changes. */
const priorityOfInitial = -100;
const controllersUser = 'system:hangar:controllers';
const timeoutMs = 60_000;
/** Time for an aborted reconcile to return. After that its worker is reused. */
const graceMs = 5_000;
/** A few consecutive failures are common. */
const quietRetriesMax = 3;
/**
 * Failures that concurrent changes cause, such as `UnknownKind` while a definition is new, get a warning only after a minute of retries:
 * the delays before the 15th retry add up to 5 ms × (2^14 − 1) = 82 s, before the 14th to 41 s.
 */
const quietRaceRetriesMax = 14;
const rateLimit: RateLimit = { baseMs: 5, maxMs: 60_000, perCluster: { perSecond: 50, burst: 1_000 } };

export class Lane {
  readonly controller: FleetController;
  readonly #options: LaneOptions;
  readonly #world: LaneWorld;
  readonly #queue: Queue;
  readonly #metrics: ControllerMetrics;
  readonly #turn: Turn;
  readonly #concurrency: number;
  readonly #runs = new Set<Run>();
  readonly #onIdle: (() => void)[] = [];
  #active = 0;
  #isRunning = false;
  #priority = 0;
  readonly ask: Ask = (request, { afterMs = 0 } = {}) =>
    this.#queue.add(request, { afterMs, priority: this.#priority });

  constructor(options: LaneOptions) {
    const { controller, world, registry } = options;
    const { name, concurrency = defaultConcurrency, perCluster = defaultPerCluster } = controller;
    this.controller = controller;
    this.#options = options;
    this.#world = { ...world, log: world.log.child({ controller: name }) };
    this.#concurrency = concurrency;
    this.#turn = new Turn(world.clock, () => this.#pump());
    this.#metrics = new ControllerMetrics(name, registry, () => ({
      active: this.#active,
      stuck: this.#runs.size - this.#active,
      engaged: 0,
      concurrency,
    }));
    this.#queue = new Queue({
      name,
      clock: world.clock,
      rateLimit,
      maxPerCluster: perCluster,
      ...(registry ? { metrics: registry } : {}),
      onReady: () => this.#wake(),
    });
  }

  /** Number of queued and running requests. */
  get length(): number {
    return this.#queue.length + this.#runs.size;
  }

  changed(change: Change): void {
    this.#priority = change.isInitial ? priorityOfInitial : 0;
    this.tell('changed', () => this.controller.changed(change, this.ask));
    this.#priority = 0;
  }

  /** Calls the controller and logs its exceptions. */
  tell(what: string, call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#world.log.error(`controller failed to handle a notification: ${what}`, { error });
    }
  }

  start(): void {
    this.#isRunning = true;
    this.#wake();
  }

  /** Drops queued requests and aborts running ones; resolves when they have returned or timed out. */
  async stop(reason: unknown): Promise<void> {
    this.#isRunning = false;
    this.#turn.stop();
    void this.#queue.shutDown();
    for (const run of this.#runs) this.#abort(run, reason);
    if (this.#active > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
    for (const run of this.#runs) run.timer?.cancel();
  }

  /** Drops the queued requests of a control plane, and aborts running ones without a retry. */
  dropCluster(cluster: string): void {
    void this.#queue.removeCluster(cluster);
    for (const run of this.#runs) {
      if (run.request.cluster !== cluster) continue;
      run.isLost = true;
      this.#abort(
        run,
        new CodedError(
          'ClusterGone',
          `control plane "${cluster}" was deleted or is no longer assigned to this process`,
        ),
      );
    }
  }

  /** Resolves when no request of the dropped control plane runs, or it timed out. */
  async drained(cluster: string): Promise<void> {
    const left = Array.from(this.#runs).filter((run) => run.hasWorker && run.request.cluster === cluster);
    await Promise.all(left.map((run) => run.ended));
  }

  #wake(): void {
    if (this.#isRunning && this.#active < this.#concurrency) this.#turn.askForNext();
  }

  #pump(): void {
    while (this.#isRunning && this.#active < this.#concurrency && this.#turn.enter()) {
      const taken = this.#queue.tryTake();
      if (!taken) return;
      if (this.#options.isServed(taken.request.cluster)) void this.#work(taken);
      else this.#drop(taken.request);
    }
  }

  #drop(request: Request): void {
    this.#metrics.dropped('ClusterNotFound');
    this.#queue.forget(request);
    this.#queue.done(request);
  }

  async #work({ request, priority }: Taken): Promise<void> {
    const { clock } = this.#world;
    const run = new Run(this.#world, { request, priority, ask: this.ask });
    const startedMs = clock.monotonicMs();
    run.timer = clock.after(timeoutMs, () => {
      this.#metrics.timedOut();
      this.#abort(run, new CodedError('TimedOut', `reconcile took longer than ${timeoutMs} ms`));
    });
    this.#active++;
    this.#runs.add(run);
    try {
      const result = await this.#reconcile(request, run);
      this.#succeeded(run, result ?? {});
    } catch (error) {
      this.#failed(run, error);
    }
    this.#metrics.time.observe((clock.monotonicMs() - startedMs) / 1000);
    run.timer?.cancel();
    this.#runs.delete(run);
    this.#queue.done(request);
    if (run.hasWorker) this.#leave();
    run.end();
    this.#pump();
  }

  /** Runs on behalf of the control plane: its CPU time is charged there. */
  #reconcile(request: Request, run: Run): Promise<Result | void> {
    const { cluster, namespace = '', name } = request;
    const { name: controller } = this.controller;
    const resource = `${controller} ${namespace === '' ? name : `${namespace}/${name}`}`;
    return runForTenant({ tenant: cluster, user: controllersUser, verb: 'reconcile', resource }, () =>
      this.controller.reconcile(request, run),
    );
  }

  #succeeded({ request, priority, isLost }: Run, { requeueAfterMs = 0, requeue = false, ...result }: Result): void {
    const next = result.priority ?? priority;
    if (isLost) this.#queue.forget(request);
    else if (requeueAfterMs > 0) {
      this.#metrics.counts.requeue_after++;
      this.#queue.forget(request);
      this.#queue.add(request, { afterMs: requeueAfterMs, priority: next });
    } else if (requeue) {
      this.#metrics.counts.requeue++;
      this.#queue.add(request, { rateLimited: true, priority: next });
    } else {
      this.#metrics.counts.success++;
      this.#queue.forget(request);
    }
  }

  #failed(run: Run, thrown: unknown): void {
    const { request, priority } = run;
    if (run.isLost || !this.#isRunning) {
      this.#queue.forget(request);
      return;
    }
    const failure = failureOf(thrown);
    this.#metrics.failed(failure);
    if (failure.isTerminal) this.#queue.forget(request);
    else this.#queue.add(request, { priority, rateLimited: true });
    const quietRetries = failure.isRace ? quietRaceRetriesMax : quietRetriesMax;
    const isLoud = failure.isTerminal || failure.isPanic || this.#queue.retriesOf(request) > quietRetries;
    const about = failure.isRace ? { reason: failure.error.message } : { error: failure.error };
    run.log[isLoud ? 'warn' : 'debug']('reconcile failed', about);
  }

  #abort(run: Run, reason: unknown): void {
    run.timer?.cancel();
    run.abort(reason);
    run.timer = this.#world.clock.after(graceMs, () => {
      if (!run.hasWorker) return;
      run.hasWorker = false;
      run.log.error('reconcile did not return after it was aborted');
      this.#leave();
      run.end();
      this.#pump();
    });
  }

  #leave(): void {
    this.#active--;
    if (this.#active === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
  }
}
