/** One running reconcile and its context, parts of which are created on first use. */

import type { Client } from '@hangar/client';
import type { Logger, Timer } from '@hangar/core';
import type { Request } from '@hangar/runtime';
import type { Ask, ControllerContext, RemoteWorld } from '../contract.ts';

export interface RunOptions {
  readonly request: Request;
  readonly priority: number;
  readonly ask: Ask;
}

export class Run implements ControllerContext {
  readonly request: Request;
  readonly priority: number;
  readonly ask: Ask;
  readonly #world: Pick<RemoteWorld, 'clientOf' | 'log'>;
  /** Runs until the abort, then until the worker is reused. */
  timer: Timer | undefined;
  hasWorker = true;
  /** Its control plane is gone: the outcome is ignored. */
  isLost = false;
  #abort: AbortController | undefined;
  #reason: unknown;
  #log: Logger | undefined;
  #ended: PromiseWithResolvers<void> | undefined;

  constructor(world: Pick<RemoteWorld, 'clientOf' | 'log'>, { request, priority, ask }: RunOptions) {
    this.#world = world;
    this.request = request;
    this.priority = priority;
    this.ask = ask;
  }

  get client(): Client {
    return this.#world.clientOf(this.request.cluster);
  }

  get signal(): AbortSignal {
    if (!this.#abort) {
      this.#abort = new AbortController();
      if (this.#reason !== undefined) this.#abort.abort(this.#reason);
    }
    return this.#abort.signal;
  }

  get log(): Logger {
    const { cluster, namespace, name } = this.request;
    return (this.#log ??= this.#world.log.child({ cluster, namespace, name }));
  }

  /** The first reason counts. */
  abort(reason: unknown): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason ?? new DOMException('aborted', 'AbortError');
    this.#abort?.abort(this.#reason);
  }

  /** Resolves when `end` is called. */
  get ended(): Promise<void> {
    return (this.#ended ??= Promise.withResolvers<void>()).promise;
  }

  end(): void {
    this.#ended?.resolve();
  }
}
