/**
 * The queue of requests to reconcile. Each request is queued once, regardless of how often it was added, and never processed twice at the
 * same time.
 *
 * The highest priority goes first: as in controller-runtime, a steady stream of high-priority requests starves low-priority ones. (Initial
 * objects have a low priority; changes must not wait behind them.) Within a priority, clusters take turns, so that a cluster with ten
 * thousand requests does not delay another with one; within a cluster, the order is FIFO.
 */

import type { Request } from '../controller/reconcile.ts';

/** Options of `RequestQueue.add`. */
export interface AddOptions {
  /** Requests with a higher priority are taken first. Adding a queued request again can raise its priority, but not lower it. Absent: 0. */
  readonly priority?: number;
  /** Delay. Adding a queued request again can shorten the delay, but not extend it. */
  readonly afterMs?: number;
  /** Delays the request by its back-off and counts a failure. */
  readonly rateLimited?: boolean;
}

/** A request that was taken from the queue. */
export interface Taken {
  readonly request: Request;
  readonly priority: number;
}

/** Options of `RequestQueue.shutDown`. */
export interface ShutDownOptions {
  /** Completes the ready requests. Absent: drops them. Delayed requests and requests of paused clusters are dropped in any case. */
  readonly drain?: boolean;
}

/** A work queue of requests. Each request is queued once and never processed twice at the same time; clusters take turns. */
export interface RequestQueue {
  /** Adds a request. No effect after `shutDown`. */
  add(request: Request, options?: AddOptions): void;
  /** Takes the next request. Returns undefined when no request is ready. */
  tryTake(): Taken | undefined;
  /** Takes the next request and waits for one if necessary. Resolves with undefined after `shutDown` when the queue is empty. */
  take(): Promise<Taken | undefined>;
  /** Marks a taken request as processed. If it was added in the meantime, it becomes ready again. */
  done(request: Request): void;
  /** Resets the back-off of a request. */
  forget(request: Request): void;
  retriesOf(request: Request): number;
  /** Stops taking requests of a cluster until `resume`. Requests can still be added. */
  pause(cluster: string): void;
  resume(cluster: string): void;
  /** Drops the queued requests of a cluster. Resolves when its taken requests are done. */
  removeCluster(cluster: string): Promise<void>;
  /** Number of queued requests: ready, delayed, or added again while being processed. */
  readonly length: number;
  /** Rejects further requests. Resolves when all taken requests are done and, with `drain`, all ready ones. */
  shutDown(options?: ShutDownOptions): Promise<void>;
}
