/** The load: concurrent writers, each of which waits for its acknowledgement before it writes again. */

import { absent } from '@hangar/store';
import type { Store } from '@hangar/store';
import { percentile } from '../table.ts';

export const valueBytes = 1024;

export interface Throughput {
  readonly perSecond: number;
  /** CPU time of this process; that of a separate server is not included. */
  readonly cpuUs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** ConfigMaps of a hundred tenants, interleaved as tenants write. */
export function keyOf(n: number): string {
  return `/registry/clusters/tenant-${n % 100}/configmaps/default/object-${n}`;
}

export async function createsPerSecond(
  store: Store,
  options: { puts: number; writers: number; from: number },
): Promise<Throughput> {
  const latencies: number[] = [];
  let next = options.from;
  const end = options.from + options.puts;
  const cpu = process.cpuUsage();
  const startedMs = performance.now();
  const writer = async () => {
    while (next < end) {
      const n = next++;
      // A new buffer, as from a request: not one that is already in the CPU cache.
      const value = Buffer.alloc(valueBytes, n);
      const sentMs = performance.now();
      const result = await store.commit([{ type: 'put', key: keyOf(n), value, expected: absent }]);
      latencies.push(performance.now() - sentMs);
      if (!result.committed) throw new Error(`${keyOf(n)} exists already`);
    }
  };
  await Promise.all(Array.from({ length: options.writers }, writer));
  const seconds = (performance.now() - startedMs) / 1000;
  const used = process.cpuUsage(cpu);
  latencies.sort((a, b) => a - b);
  return {
    perSecond: options.puts / seconds,
    cpuUs: (used.user + used.system) / options.puts,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
  };
}
