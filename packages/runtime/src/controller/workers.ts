/**
 * Takes requests of engaged clusters from the queue, reconciles them, and handles the outcome:
 *
 *   success        forgotten                     requeueAfterMs   requeued after the delay, failures forgotten
 *   error          requeued with back-off        requeue          requeued with back-off
 *   Terminal       counted, not retried          ClusterNotFound, ClusterNotOwned   dropped, counted
 *   Fenced         requeued with back-off, not logged: dropped when the engagement ends, unless the ownership is proven again
 *
 * While the ownership of a cluster is not proven, none of its requests is taken; it is checked periodically.
 *
 * Errors, results and hangs of a reconciler stay within its run. Work that it starts and does not await (timers, listeners) does not: an
 * exception there is an uncaught exception of the process and cannot be attributed to a run.
 *
 * A reconciler that returns no promise costs none: it is called, and the next one, within one turn of the event loop.
 */

import { CodedError, isTraced, traced } from '@hangar/core';
import type { Clock, Logger, Random } from '@hangar/core';
import type { ClusterName } from '../cluster.ts';
import type { Taken } from '../queue/contract.ts';
import type { Queue } from '../queue/queue.ts';
import type { ControllerMetrics, DropReason } from './controller-metrics.ts';
import { Deadlines } from './deadlines.ts';
import type { EngagedCluster } from './engaged-cluster.ts';
import { asResult, failureOf, isThenable } from './outcome.ts';
import type { Failure } from './outcome.ts';
import type { Reconciler, Request } from './reconcile.ts';
import { Run } from './run.ts';
import { Turn } from './turn.ts';

export interface WorkersOptions {
  readonly controller: string;
  readonly reconcile: Reconciler;
  readonly concurrency: number;
  readonly reconcileTimeoutMs: number | undefined;
  readonly reconcileGraceMs: number;
  readonly queue: Queue;
  readonly metrics: ControllerMetrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Returns the current engagement. */
  engagedAs(name: ClusterName): EngagedCluster | undefined;
}

/** Interval of the check. */
const rightAgainMs = 500;
/** Retries of one request, over 1.3 s with the default back-off, in which a race with a concurrent change is not reported. */
const quietRaceRetriesMax = 8;

export class Workers {
  readonly #options: WorkersOptions;
  readonly #queue: Queue;
  readonly #metrics: ControllerMetrics;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #turn: Turn;
  readonly #timeouts: Deadlines<Run> | undefined;
  readonly #graces: Deadlines<Run> | undefined;
  /** Clusters whose requests wait because the ownership could not be proven. */
  readonly #fenced: Deadlines<EngagedCluster>;
  readonly #onIdle: (() => void)[] = [];
  #isRunning = false;
  #active = 0;
  #stuck = 0;

  constructor(options: WorkersOptions) {
    const { clock, reconcileTimeoutMs, reconcileGraceMs } = options;
    this.#options = options;
    this.#queue = options.queue;
    this.#metrics = options.metrics;
    this.#clock = clock;
    this.#log = options.log;
    this.#turn = new Turn(clock, () => this.#pump());
    this.#fenced = new Deadlines(clock, rightAgainMs, (engaged) => this.#lookAgain(engaged));
    if (reconcileTimeoutMs === undefined) return;
    this.#timeouts = new Deadlines(clock, reconcileTimeoutMs, (run) => this.#timedOut(run));
    this.#graces = new Deadlines(clock, reconcileGraceMs, (run) => this.#giveUpWorker(run));
  }

  /** Number of reconciles with a worker. */
  get active(): number {
    return this.#active;
  }

  /** Number of reconciles that still run after timeout and grace period, without a worker. */
  get stuck(): number {
    return this.#stuck;
  }

  start(): void {
    this.#isRunning = true;
    this.wake();
  }

  /** Called when a request may be ready. Never runs a reconciler before it returns, so that callers that enqueue do not wait for it. */
  wake(): void {
    if (this.#isRunning && this.#active < this.#options.concurrency) this.#turn.askForNext();
  }

  /** Takes no further requests; resolves when no worker is busy. Does not abort running reconciles. */
  async stop(): Promise<void> {
    this.#isRunning = false;
    this.#turn.stop();
    if (this.#active > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
    this.#timeouts?.stop();
    this.#graces?.stop();
    this.#fenced.stop();
  }

  #pump(): void {
    while (this.#isRunning && this.#active < this.#options.concurrency && this.#turn.enter()) {
      const taken = this.#queue.tryTake();
      if (!taken) return;
      this.#dispatch(taken);
    }
  }

  #dispatch({ request, priority }: Taken): void {
    const engaged = this.#options.engagedAs(request.cluster);
    if (!engaged) return this.#drop(request, 'ClusterNotFound');
    try {
      engaged.ownership?.check();
    } catch {
      return this.#waitForRight(engaged, { request, priority });
    }
    const run = new Run(this.#options, { request, priority, engaged, startedMs: this.#clock.monotonicMs() });
    this.#active++;
    engaged.entered(run);
    this.#begin(run);
  }

  /**
   * Waits for the cluster as a whole: with a separate back-off for each request, they would wait long after the ownership is proven again.
   */
  #waitForRight(engaged: EngagedCluster, { request, priority }: Taken): void {
    this.#metrics.dropped('Fenced');
    this.#queue.pause(engaged.name);
    this.#queue.add(request, { priority });
    this.#queue.done(request);
    this.#fenced.add(engaged);
  }

  /** A newer engagement of the name resumes its requests itself. */
  #lookAgain(engaged: EngagedCluster): void {
    if (this.#options.engagedAs(engaged.name) === engaged) this.#queue.resume(engaged.name);
  }

  #begin(run: Run): void {
    let returned: unknown;
    try {
      returned = isTraced() ? this.#traced(run) : this.#options.reconcile(run.request, run);
      if (!isThenable(returned)) return this.#succeeded(run, returned);
    } catch (error) {
      return this.#failed(run, error);
    }
    this.#timeouts?.add(run);
    // A foreign thenable may call back twice or synchronously: wrapping it in a promise prevents that.
    Promise.resolve(returned).then(
      (result) => {
        this.#succeeded(run, result);
        this.#pump();
      },
      (error: unknown) => {
        this.#failed(run, error);
        this.#pump();
      },
    );
  }

  #traced(run: Run): unknown {
    const { cluster, namespace = '', name } = run.request;
    const attributes = { controller: this.#options.controller, cluster, namespace, name, reconcileID: run.id };
    return traced(
      'reconcile',
      () => this.#options.reconcile(run.request, run),
      () => attributes,
    );
  }

  #succeeded(run: Run, returned: unknown): void {
    const { request, engaged } = run;
    let requeueAfterMs: number | undefined;
    let requeue: boolean | undefined;
    let { priority } = run;
    if (returned !== undefined) {
      try {
        ({ requeueAfterMs, requeue, priority = run.priority } = asResult(returned));
      } catch (error) {
        return this.#failed(run, error);
      }
    }
    if (requeueAfterMs !== undefined && requeueAfterMs > 0) {
      this.#metrics.counts.requeue_after++;
      this.#queue.forget(request);
      if (!engaged.isLost) this.#queue.add(request, { afterMs: requeueAfterMs, priority });
    } else if (requeue === true) {
      this.#metrics.counts.requeue++;
      if (!engaged.isLost) this.#queue.add(request, { rateLimited: true, priority });
    } else {
      this.#metrics.counts.success++;
      this.#queue.forget(request);
    }
    this.#end(run);
  }

  #failed(run: Run, thrown: unknown): void {
    const failure = failureOf(thrown);
    if (run.engaged.hasEnded) this.#interrupted(run, failure);
    else if (failure.drop === 'Fenced') this.#retry(run, failure.drop);
    else if (failure.drop) this.#giveUp(run, failure.drop);
    else this.#report(run, failure);
    this.#end(run);
  }

  /** The run lost its cluster. If the cluster returns, the request is due again, and the run does not count as a failure. */
  #interrupted({ request, priority, engaged }: Run, { error }: Failure): void {
    this.#metrics.dropped('Disengaged');
    if (engaged.isLost) this.#queue.forget(request);
    else this.#queue.add(request, { priority });
    unlessItFails(() => this.#log.debug('reconcile interrupted', { ...request, error }));
  }

  #retry({ request, priority }: Run, reason: DropReason): void {
    this.#metrics.dropped(reason);
    this.#queue.add(request, { priority, rateLimited: true });
  }

  #giveUp({ request }: Run, reason: DropReason): void {
    this.#metrics.dropped(reason);
    this.#queue.forget(request);
  }

  #report(run: Run, failure: Failure): void {
    const { request, priority } = run;
    this.#metrics.failed(failure);
    if (failure.isTerminal) this.#queue.forget(request);
    else this.#queue.add(request, { priority, rateLimited: true });
    if (failure.isRace && this.#queue.retriesOf(request) <= quietRaceRetriesMax) {
      const reason = failure.error.message;
      return unlessItFails(() => run.log.debug('reconcile raced with a concurrent change, retrying', { reason }));
    }
    const message = failure.isTerminal ? 'reconcile failed, not retrying' : 'reconcile failed, retrying';
    unlessItFails(() => run.log.error(message, { error: failure.error }));
  }

  #end(run: Run): void {
    this.#timeouts?.delete(run);
    this.#graces?.delete(run);
    if (run.hasWorker) this.#active--;
    else this.#stuck--;
    this.#metrics.time.observe((this.#clock.monotonicMs() - run.startedMs) / 1000);
    this.#queue.done(run.request);
    run.engaged.left(run);
    this.#tellIfIdle();
  }

  #drop(request: Request, reason: DropReason): void {
    this.#metrics.dropped(reason);
    this.#queue.forget(request);
    this.#queue.done(request);
  }

  #timedOut(run: Run): void {
    this.#metrics.timedOut();
    run.abort(new CodedError('TimedOut', `reconcile took longer than ${this.#options.reconcileTimeoutMs} ms`));
    this.#graces!.add(run);
  }

  /** Frees the worker for other requests. The request stays locked, so that it never runs twice at the same time. */
  #giveUpWorker(run: Run): void {
    run.hasWorker = false;
    this.#active--;
    this.#stuck++;
    this.#tellIfIdle();
    this.wake();
    unlessItFails(() => run.log.error('reconcile did not return after its timeout'));
  }

  #tellIfIdle(): void {
    if (this.#active > 0 || this.#onIdle.length === 0) return;
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }
}

/** Errors are foreign values: one that cannot be serialized must not crash the process. */
function unlessItFails(log: () => void): void {
  try {
    log();
  } catch {
    // Counted in any case.
  }
}
