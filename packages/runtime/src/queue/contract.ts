/**
 * Which requests are to be reconciled, each once however often it was asked for, never two of the same at a time.
 *
 * Among what is ready, the highest priority goes first, always: as in controller-runtime, a steady stream of a high priority
 * starves a low one. (The low one is what was there at a start; news must not wait behind it.) Within a priority clusters take
 * turns, so that one with ten thousand requests does not delay another's one; within a cluster, first come first served.
 */

import type { Request } from '../controller/reconcile.ts';

export interface AddOptions {
  /** Higher goes first; absent: 0. Adding again can raise it, never lower it. */
  readonly priority?: number;
  /** Not before this time has passed. Adding again can make it earlier, never later. */
  readonly afterMs?: number;
  /** Not before the request's own back-off says so; counts as one failure. */
  readonly rateLimited?: boolean;
}

export interface Taken {
  readonly request: Request;
  readonly priority: number;
}

export interface ShutDownOptions {
  /** What is ready is still taken and done first. Absent: it is dropped. What is delayed, or of a paused cluster, is dropped. */
  readonly drain?: boolean;
}

export interface RequestQueue {
  /** No-op once it is shut down. */
  add(request: Request, options?: AddOptions): void;
  /** The next one; undefined when nothing is ready now. */
  tryTake(): Taken | undefined;
  /** Resolves with undefined when it is shut down and nothing is left to take. */
  take(): Promise<Taken | undefined>;
  /** What was added of it meanwhile is ready again. */
  done(request: Request): void;
  /** Its back-off begins anew. */
  forget(request: Request): void;
  retriesOf(request: Request): number;
  /** Nothing of the cluster is taken until `resume`; it may be added. Of one that has nothing queued, too. */
  pause(cluster: string): void;
  resume(cluster: string): void;
  /** Drops what waits of a cluster; resolves when what is under way of it is done. */
  removeCluster(cluster: string): Promise<void>;
  /** Not yet taken: ready, delayed, or added again while under way. */
  readonly length: number;
  /** Adds nothing more. Resolves when what was taken is done, and with `drain` what was ready, too. */
  shutDown(options?: ShutDownOptions): Promise<void>;
}
