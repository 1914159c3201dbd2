/** Counters of recorded and dropped events. */

import { Counter, labelText } from '@hangar/core';
import type { MetricsRegistry } from '../metrics/registry.ts';

export interface EventMetrics {
  recorded(as: 'created' | 'series'): void;
  dropped(reason: string): void;
}

export function eventMetrics(registry: MetricsRegistry | undefined, component: string): EventMetrics {
  const recorded = new Counter(
    'event_recorder_recorded_total',
    'Total number of Events written, as new Events or as updates of a series.',
  );
  const dropped = new Counter(
    'event_recorder_dropped_total',
    'Total number of Events that were not written, by reason.',
  );
  const [ours, lost] = [registry?.register(recorded) ?? recorded, registry?.register(dropped) ?? dropped];
  return {
    recorded: (as) => ours.add(labelText({ component, as })),
    dropped: (reason) => lost.add(labelText({ component, reason })),
  };
}
