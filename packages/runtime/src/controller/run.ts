/**
 * One running reconcile and its context. The logger and the abort signal are created on first use, because most reconcilers do not use
 * them.
 */

import type { Client } from '@hangar/client';
import { uuid } from '@hangar/core';
import type { Logger, Random } from '@hangar/core';
import type { Cluster } from '../cluster.ts';
import type { ReconcileContext, Request } from './reconcile.ts';
import type { EngagedCluster } from './engaged-cluster.ts';

/** Dependencies that all runs of a controller share. */
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
  /** False: its timeout and grace period are over, and its worker was reused. */
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

  /** A separate signal: a timeout aborts only this run. Runs add no listeners to the signal of the cluster. */
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

  /** A UUID for each reconcile, in its logs and its span. */
  get id(): string {
    return (this.#id ??= uuid(this.#world.random));
  }

  /** Aborts the signal of the run. The first reason counts. */
  abort(reason: unknown): void {
    if (this.#abortReason !== undefined) return;
    this.#abortReason = reason ?? new DOMException('aborted', 'AbortError');
    this.#abort?.abort(this.#abortReason);
  }
}
