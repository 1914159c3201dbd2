/**
 * One reconcile under way, and the context that it is given. What most reconcilers do not ask for (a logger and an abort signal of
 * their own) is made when they do.
 */

import type { Client } from '@hangar/client';
import { uuid } from '@hangar/core';
import type { Logger, Random } from '@hangar/core';
import type { Cluster } from '../cluster.ts';
import type { ReconcileContext, Request } from './reconcile.ts';
import type { EngagedCluster } from './engaged-cluster.ts';

/** What all runs of a controller share. */
export interface RunWorld {
  readonly log: Logger;
  readonly random: Random;
}

export interface RunOptions {
  readonly request: Request;
  readonly priority: number;
  readonly engaged: EngagedCluster;
  readonly startedMs: number;
}

export class Run implements ReconcileContext {
  readonly request: Request;
  readonly priority: number;
  readonly engaged: EngagedCluster;
  readonly startedMs: number;
  readonly #world: RunWorld;
  /** False: its time and grace are over, and its worker was given to others. */
  hasWorker = true;
  #abort: AbortController | undefined;
  #log: Logger | undefined;
  #id: string | undefined;
  #abortReason: unknown;

  constructor(world: RunWorld, { request, priority, engaged, startedMs }: RunOptions) {
    this.#world = world;
    this.request = request;
    this.priority = priority;
    this.engaged = engaged;
    this.startedMs = startedMs;
  }

  get cluster(): Cluster {
    return this.engaged.cluster;
  }

  get client(): Client {
    return this.engaged.cluster.client;
  }

  /** Its own: a time-out fires it alone. Nobody listens on a cluster's signal for a reconcile. */
  get signal(): AbortSignal {
    if (!this.#abort) {
      this.#abort = new AbortController();
      if (this.#abortReason !== undefined) this.#abort.abort(this.#abortReason);
    }
    return this.#abort.signal;
  }

  get log(): Logger {
    const { cluster, namespace, name } = this.request;
    return (this.#log ??= this.#world.log.child({ cluster, namespace, name, reconcileID: this.id }));
  }

  /** A UUID: one for each reconcile, in its logs and its span. */
  get id(): string {
    return (this.#id ??= uuid(this.#world.random));
  }

  /** Ends what is under way, if it listens. The first reason stays. */
  abort(reason: unknown): void {
    if (this.#abortReason !== undefined) return;
    this.#abortReason = reason ?? new DOMException('aborted', 'AbortError');
    this.#abort?.abort(this.#abortReason);
  }
}
