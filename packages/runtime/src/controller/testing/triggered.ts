/** A controller in virtual time that only a test triggers, with unreachable clusters. */

import { Logger } from '@hangar/core';
import { virtualClock } from '@hangar/testkit';
import type { VirtualClock } from '@hangar/testkit';
import type { ClusterName } from '../../cluster.ts';
import type { EngageOptions, Engagement } from '../../clusters/contract.ts';
import { MetricsRegistry } from '../../metrics/registry.ts';
import type { Controller } from '../controller.ts';
import { newController } from '../new-controller.ts';
import type { ControllerOptions } from '../options.ts';
import { bareCluster } from './bare-cluster.ts';
import { metricValue } from '../../metrics/testing/metric-value.ts';

export interface TriggeredOptions extends Omit<Partial<ControllerOptions>, 'reconcile'> {
  readonly reconcile: ControllerOptions['reconcile'];
  /** Absent: one cluster, named a. */
  readonly clusters?: readonly ClusterName[];
}

export interface Triggered extends AsyncDisposable {
  readonly clock: VirtualClock;
  readonly controller: Controller;
  readonly stop: AbortController;
  /** By cluster: aborting disengages it. */
  readonly signals: Map<ClusterName, AbortController>;
  /** Log lines. */
  readonly lines: string[];
  engage(name: ClusterName, options?: EngageOptions): Engagement;
  start(): Promise<void>;
  trigger(...names: readonly string[]): void;
  /** The value of a series. */
  metric(series: string): number | undefined;
}

export async function triggered({ clusters = ['a'], ...options }: TriggeredOptions): Promise<Triggered> {
  const clock = virtualClock();
  const metrics = new MetricsRegistry();
  const lines: string[] = [];
  const log = new Logger({ level: 'debug', format: 'json', clock, write: (line) => void lines.push(line) });
  const controller = newController({ name: 'test', clock, metrics, log, ...options });
  const stop = new AbortController();
  let running: Promise<void> | undefined;
  const world: Triggered = {
    clock,
    controller,
    stop,
    signals: new Map(),
    lines,
    engage(name, engageOptions) {
      const abort = new AbortController();
      world.signals.set(name, abort);
      return controller.engage(name, bareCluster(name, clock), abort.signal, engageOptions);
    },
    start: () => (running = controller.start(stop.signal)),
    trigger(...names) {
      for (const name of names) controller.trigger({ cluster: clusters[0]!, namespace: 'default', name });
    },
    metric: (series) => metricValue(metrics, series),
    async [Symbol.asyncDispose]() {
      stop.abort();
      if (running) await clock.run(running);
    },
  };
  for (const name of clusters) world.engage(name);
  await clock.settle();
  return world;
}
