/**
 * Metrics of a queue, with the names and buckets of the work queues of controller-runtime. Most are computed on scrape: a take costs two
 * observations, an add one increment.
 */

import { Counter, Gauge, labelText } from '@hangar/core';
import type { MetricsRegistry } from '../metrics/registry.ts';
import { exponentialBounds, TimingFamily, TimingSeries } from '../metrics/timings.ts';

const bounds = exponentialBounds(1e-8, 10, 12);

/** State that is read on scrape. */
export interface QueueState {
  /** Number of ready requests by priority. */
  depths(): Map<number, number>;
  /** Processing time so far of each busy request, in seconds. */
  busySeconds(): Iterable<number>;
}

export class QueueMetrics {
  readonly waited: TimingSeries;
  readonly worked: TimingSeries;
  adds = 0;
  retries = 0;

  constructor(registry: MetricsRegistry | undefined, name: string, state: QueueState) {
    const labels = { name, controller: name };
    this.waited = new TimingSeries(bounds);
    this.worked = new TimingSeries(bounds);
    if (!registry) return;
    this.waited = registry
      .register(
        new TimingFamily(
          'workqueue_queue_duration_seconds',
          'How long in seconds an item stays in workqueue before being requested',
          bounds,
        ),
      )
      .series(labels);
    this.worked = registry
      .register(
        new TimingFamily(
          'workqueue_work_duration_seconds',
          'How long in seconds processing an item from workqueue takes.',
          bounds,
        ),
      )
      .series(labels);
    this.#exportOnScrape(registry, labels, state);
  }

  #exportOnScrape(registry: MetricsRegistry, labels: { name: string; controller: string }, state: QueueState): void {
    const gauge = (name: string, help: string): Gauge => registry.register(new Gauge(name, help));
    const depth = gauge('workqueue_depth', 'Current depth of workqueue by workqueue and priority');
    const unfinished = gauge(
      'workqueue_unfinished_work_seconds',
      'How many seconds of work has been done that is in progress and has not been observed by work_duration.',
    );
    const longest = gauge(
      'workqueue_longest_running_processor_seconds',
      'How many seconds has the longest running processor for workqueue been running.',
    );
    const adds = registry.register(new Counter('workqueue_adds_total', 'Total number of adds handled by workqueue'));
    const retries = registry.register(
      new Counter('workqueue_retries_total', 'Total number of retries handled by workqueue'),
    );
    const own = labelText(labels);
    const told = { adds: 0, retries: 0, priorities: new Set<number>([0]) };
    registry.onScrape(() => {
      adds.add(own, this.adds - told.adds);
      retries.add(own, this.retries - told.retries);
      [told.adds, told.retries] = [this.adds, this.retries];
      const depths = state.depths();
      for (const priority of depths.keys()) told.priorities.add(priority);
      for (const priority of told.priorities) {
        depth.set(labelText({ ...labels, priority: String(priority) }), depths.get(priority) ?? 0);
      }
      let [sum, most] = [0, 0];
      for (const seconds of state.busySeconds()) {
        sum += seconds;
        most = Math.max(most, seconds);
      }
      unfinished.set(own, sum);
      longest.set(own, most);
    });
  }
}
