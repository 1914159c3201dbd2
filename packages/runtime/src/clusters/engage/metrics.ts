/** Metrics of the engine. States are counted on scrape. No metric has the cluster name as a label: there may be thousands. */

import { Counter, Gauge, Histogram, labelText } from '@hangar/core';
import type { MetricsRegistry } from '../../metrics/registry.ts';
import { clusterStates } from './status.ts';
import type { ClusterState } from './status.ts';

const secondsBounds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export class EngineMetrics {
  readonly #labels: string;
  readonly #durations = new Histogram(
    'hangar_runtime_cluster_engage_duration_seconds',
    'Time to open and engage a cluster, in seconds.',
    secondsBounds,
  );
  readonly #failures = new Counter(
    'hangar_runtime_cluster_engage_failures_total',
    'Total number of failed attempts to open a cluster and of engaged clusters that stopped unexpectedly.',
  );

  constructor(
    registry: MetricsRegistry | undefined,
    provider: string,
    states: () => ReadonlyMap<ClusterState, number>,
  ) {
    this.#labels = labelText({ provider });
    if (!registry) return;
    this.#durations = registry.register(this.#durations);
    this.#failures = registry.register(this.#failures);
    const clusters = registry.register(new Gauge('hangar_runtime_clusters', 'Number of discovered clusters by state.'));
    const labels = clusterStates.map((state) => [state, labelText({ provider, state })] as const);
    registry.onScrape(() => {
      const counts = states();
      for (const [state, text] of labels) clusters.set(text, counts.get(state) ?? 0);
    });
  }

  engaged(durationMs: number): void {
    this.#durations.observe(this.#labels, durationMs / 1_000);
  }

  failed(): void {
    this.#failures.add(this.#labels);
  }
}
