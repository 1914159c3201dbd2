/** One reconcile under way, and the context that it is given. What many do not ask for is made when they do. */

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
  /** Until it is aborted, then until its worker is given to others. */
  timer: Timer | undefined;
  hasWorker = true;
  /** Its control plane has gone: what becomes of it is nobody's concern. */
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

  /** The first reason stays. */
  abort(reason: unknown): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason ?? new DOMException('aborted', 'AbortError');
    this.#abort?.abort(this.#reason);
  }

  /** Of one that is under way: resolves with `end`. */
  get ended(): Promise<void> {
    return (this.#ended ??= Promise.withResolvers<void>()).promise;
  }

  end(): void {
    this.#ended?.resolve();
  }
}
