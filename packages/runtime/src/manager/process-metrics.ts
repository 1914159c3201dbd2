/** The process metrics of the Prometheus client libraries, and those of Node. */

import { Counter, Gauge } from '@hangar/core';
import type { Clock } from '@hangar/core';
import type { MetricsRegistry } from '../metrics/registry.ts';

export function addProcessMetrics(registry: MetricsRegistry, clock: Pick<Clock, 'now'>): void {
  const cpu = registry.register(new TotalCounter('process_cpu_seconds_total', 'User and system CPU time in seconds.'));
  const resident = registry.register(new Gauge('process_resident_memory_bytes', 'Resident memory size in bytes.'));
  const heap = registry.register(new Gauge('nodejs_heap_size_used_bytes', 'Used heap of V8 in bytes.'));
  const started = registry.register(
    new Gauge('process_start_time_seconds', 'Start time of the process since unix epoch in seconds.'),
  );
  started.set('', Math.round(clock.now() / 1000 - process.uptime()));
  registry.onScrape(() => {
    const { user, system } = process.cpuUsage();
    cpu.set((user + system) / 1e6);
    const { rss, heapUsed } = process.memoryUsage();
    resident.set('', rss);
    heap.set('', heapUsed);
  });
}

/** A counter with an external value. */
class TotalCounter extends Counter {
  set(value: number): void {
    this.with('').value = value;
  }
}
