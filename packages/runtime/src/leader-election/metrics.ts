/** Metrics with the names of client-go. */

import { Counter, Gauge, labelText } from '@hangar/core';
import type { MetricsRegistry } from '../metrics/registry.ts';

export interface ElectionMetrics {
  leads(isLeading: boolean): void;
  slowPath(): void;
}

export function electionMetrics(registry: MetricsRegistry | undefined, name: string): ElectionMetrics {
  const labels = labelText({ name });
  const status = new Gauge(
    'leader_election_master_status',
    'Whether the reporting process is master of the lease: 0 backup, 1 master. The name is the lease.',
  );
  const slowPaths = new Counter(
    'leader_election_slowpath_total',
    'How often a leader had to read its lease before it could renew it. The name is the lease.',
  );
  const shared = registry?.register(status) ?? status;
  const sharedSlowPaths = registry?.register(slowPaths) ?? slowPaths;
  shared.set(labels, 0);
  sharedSlowPaths.add(labels, 0);
  return {
    leads: (isLeading) => shared.set(labels, isLeading ? 1 : 0),
    slowPath: () => sharedSlowPaths.add(labels),
  };
}
