/** A manager in this process that works on a server over TLS, by its kubeconfig. */

import { connect } from '@hangar/client';
import type { Client, ClusterConfig } from '@hangar/client';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { Logger, systemClock } from '@hangar/core';
import { Manager, named } from '@hangar/runtime';
import type { Controller, ManagerOptions, Reconciler } from '@hangar/runtime';
import { sharedName } from './widget-reconciler.ts';
import { Widget } from './widgets.ts';

export interface OperatorOptions extends Omit<
  ManagerOptions,
  'client' | 'closesClient' | 'metrics' | 'health' | 'log'
> {
  /** Absent: controllers are added before `start`. */
  readonly setUp?: (manager: Manager) => void;
}

export class Operator implements AsyncDisposable {
  readonly manager: Manager;
  readonly client: Client;
  /** Its warnings and errors. */
  readonly logged: string[] = [];
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(config: ClusterConfig, { setUp, ...options }: OperatorOptions = {}) {
    this.client = connect(config);
    const write = (line: string): void => void this.logged.push(line);
    const log = new Logger({ level: 'warn', format: 'text', clock: systemClock, write });
    this.manager = new Manager({ ...options, client: this.client, metrics: false, health: false, log });
    setUp?.(this.manager);
  }

  /** Resolves when everything has started. */
  static async start(config: ClusterConfig, options: OperatorOptions): Promise<Operator> {
    const operator = new Operator(config, options);
    operator.start();
    await Promise.race([operator.manager.elected, operator.ended]);
    return operator;
  }

  start(): void {
    this.#running = this.manager.run(this.#stop.signal);
    this.#running.catch(() => {});
  }

  /** Rejects with its fatal error, if it was not stopped. */
  get ended(): Promise<void> {
    return this.#running;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.client.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

/** Adds a controller of Widgets, their objects, and the ConfigMap that all Widgets of a namespace depend on. */
export const addWidgetController = (manager: Manager, reconcile: Reconciler): Controller =>
  manager.controller({
    name: 'widget',
    for: Widget,
    owns: [ConfigMap],
    watches: [{ kind: ConfigMap, where: named(sharedName), map: 'all' }],
    reconcile,
    concurrency: 4,
  });
