/** Metrics of a controller: the names and buckets of controller-runtime, and a few additions. No label names a cluster or object. */

import { Counter, Gauge, labelText } from '@hangar/core';
import { MetricsRegistry } from '../metrics/registry.ts';
import { TimingFamily } from '../metrics/timings.ts';
import type { TimingSeries } from '../metrics/timings.ts';

const bounds = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

export type ReconcileResult = 'success' | 'error' | 'requeue' | 'requeue_after';
const results: readonly ReconcileResult[] = ['success', 'error', 'requeue', 'requeue_after'];

/** Why a request was not reconciled, or its failure not retried. */
export type DropReason = 'ClusterNotFound' | 'ClusterNotOwned' | 'Fenced' | 'Disengaged';

/** Computed on scrape. */
export interface ControllerState {
  readonly active: number;
  readonly stuck: number;
  readonly engaged: number;
  readonly concurrency: number;
}

/** The metrics of one controller, under the names of controller-runtime. */
export class ControllerMetrics {
  readonly time: TimingSeries;
  /** Number of reconciles by result, exported when metrics are scraped. */
  readonly counts: Record<ReconcileResult, number> = { success: 0, error: 0, requeue: 0, requeue_after: 0 };
  readonly #own: string;
  readonly #name: string;
  readonly #errors: Counter;
  readonly #terminal: Counter;
  readonly #panics: Counter;
  readonly #timeouts: Counter;
  readonly #dropped: Counter;
  readonly #sourceFailures: Counter;

  constructor(name: string, registry: MetricsRegistry = new MetricsRegistry(), state: () => ControllerState) {
    this.#name = name;
    this.#own = labelText({ controller: name });
    const counter = (metric: string, help: string): Counter => registry.register(new Counter(metric, help));
    this.time = registry
      .register(
        new TimingFamily(
          'controller_runtime_reconcile_time_seconds',
          'Length of time per reconciliation per controller',
          bounds,
        ),
      )
      .series({ controller: name });
    this.#errors = counter(
      'controller_runtime_reconcile_errors_total',
      'Total number of reconciliation errors per controller',
    );
    this.#terminal = counter(
      'controller_runtime_terminal_reconcile_errors_total',
      'Total number of terminal reconciliation errors per controller',
    );
    this.#panics = counter(
      'controller_runtime_reconcile_panics_total',
      'Total number of reconciliation panics per controller',
    );
    this.#timeouts = counter(
      'controller_runtime_reconcile_timeouts_total',
      'Total number of reconciliation timeouts per controller',
    );
    this.#dropped = counter(
      'hangar_runtime_dropped_requests_total',
      'Total number of requests dropped because of the state of their cluster per controller and reason',
    );
    this.#sourceFailures = counter(
      'hangar_runtime_source_failures_total',
      'Total number of failures to watch a kind of a cluster per controller',
    );
    for (const one of [this.#errors, this.#terminal, this.#panics, this.#timeouts]) one.add(this.#own, 0);
    this.#exportOnScrape(registry, state);
  }

  failed({ isTerminal, isPanic }: { readonly isTerminal: boolean; readonly isPanic: boolean }): void {
    this.counts.error++;
    this.#errors.add(this.#own);
    if (isTerminal) this.#terminal.add(this.#own);
    if (isPanic) this.#panics.add(this.#own);
  }

  timedOut(): void {
    this.#timeouts.add(this.#own);
  }

  dropped(reason: DropReason): void {
    this.#dropped.add(labelText({ controller: this.#name, reason }));
  }

  sourceFailed(): void {
    this.#sourceFailures.add(this.#own);
  }

  #exportOnScrape(registry: MetricsRegistry, state: () => ControllerState): void {
    const gauge = (metric: string, help: string): Gauge => registry.register(new Gauge(metric, help));
    const total = registry.register(
      new Counter('controller_runtime_reconcile_total', 'Total number of reconciliations per controller'),
    );
    const concurrency = gauge(
      'controller_runtime_max_concurrent_reconciles',
      'Maximum number of concurrent reconciles per controller',
    );
    const active = gauge('controller_runtime_active_workers', 'Number of currently used workers per controller');
    const stuck = gauge(
      'hangar_runtime_stuck_reconciles',
      'Number of reconciles that still run after their timeout per controller',
    );
    const engaged = gauge('hangar_runtime_engaged_clusters', 'Number of clusters that the controller is engaged with');
    const told: Record<ReconcileResult, number> = { success: 0, error: 0, requeue: 0, requeue_after: 0 };
    registry.onScrape(() => {
      for (const result of results) {
        total.add(labelText({ controller: this.#name, result }), this.counts[result] - told[result]);
        told[result] = this.counts[result];
      }
      const now = state();
      concurrency.set(this.#own, now.concurrency);
      active.set(this.#own, now.active);
      stuck.set(this.#own, now.stuck);
      engaged.set(this.#own, now.engaged);
    });
  }
}
