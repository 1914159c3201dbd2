/**
 * Takes requests of engaged clusters from the queue, reconciles them, and does with the outcome what it says:
 *
 *   success        forgotten                     requeueAfterMs   again then, failures forgotten
 *   error          again with back-off           requeue          again with back-off
 *   Terminal       counted, not again            ClusterNotFound, ClusterNotOwned   dropped, counted
 *   Fenced         again with back-off, quietly: dropped when the engagement ends, which follows unless the right is proven again
 *
 * Without the right to a cluster none of its requests is taken; whether it is proven again is looked at now and then.
 *
 * Whatever a reconciler throws, returns or never does stays within its run. What it starts and does not await (timers, listeners) is
 * outside: an exception there is the process's own uncaught one, and nobody can tell whose it was.
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
  /** The one that is worked on now. */
  engagedAs(name: ClusterName): EngagedCluster | undefined;
}

/** How often. */
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
  /** Clusters whose requests wait because the right to them could not be proven. */
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

  /** Reconciles that have a worker. */
  get active(): number {
    return this.#active;
  }

  /** Reconciles that go on though their time and grace are over, and have no worker any more. */
  get stuck(): number {
    return this.#stuck;
  }

  start(): void {
    this.#isRunning = true;
    this.wake();
  }

  /** There may be something to take. Never runs a reconciler before it returns: those who enqueue are not to wait for it. */
  wake(): void {
    if (this.#isRunning && this.#active < this.#options.concurrency) this.#turn.askForNext();
  }

  /** Takes nothing more; resolves when no worker is busy. Whoever wants them to end soon aborts them. */
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

  /** The cluster as a whole: each of its requests with a back-off of its own would wait long after the right is proven again. */
  #waitForRight(engaged: EngagedCluster, { request, priority }: Taken): void {
    this.#metrics.dropped('Fenced');
    this.#queue.pause(engaged.name);
    this.#queue.add(request, { priority });
    this.#queue.done(request);
    this.#fenced.add(engaged);
  }

  /** Another engagement of the name lets its requests go by itself. */
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
    // A foreign thenable may call back twice or at once: as a promise it is one like others.
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

  /** Its cluster was taken away under it. Where that comes back the request is owed, and was no failure. */
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

  /** Others go on. Its request stays locked, so that there are never two of it. */
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

/** Errors are foreign: one that cannot be written must not take the process with it. */
function unlessItFails(log: () => void): void {
  try {
    log();
  } catch {
    // It is counted all the same.
  }
}
