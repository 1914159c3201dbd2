/** From the call of `commit` to the event in the hands of each watcher, one write every few milliseconds. */

import { setTimeout as wait } from 'node:timers/promises';
import type { Store } from '@hangar/store';
import { percentile } from '../table.ts';
import { valueBytes } from './load.ts';

export interface Latency {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export async function watchLatency(
  store: Store,
  options: { watchers: number; writes: number; prefix: string },
): Promise<Latency> {
  const latencies: number[] = [];
  const sentMs = new Map<string, number>();
  const watches = Array.from({ length: options.watchers }, () => store.watch({ prefix: options.prefix }));
  const done = watches.map(async (watch) => {
    let seen = 0;
    for await (const { events } of watch) {
      const now = performance.now();
      for (const event of events) {
        if (event.type === 'put') latencies.push(now - sentMs.get(event.entry.key)!);
        seen++;
      }
      if (seen >= options.writes) break;
    }
  });
  for (let n = 0; n < options.writes; n++) {
    const key = `${options.prefix}${n}`;
    sentMs.set(key, performance.now());
    await store.commit([{ type: 'put', key, value: Buffer.alloc(valueBytes, n) }]);
    await wait(2);
  }
  await Promise.all(done);
  latencies.sort((a, b) => a - b);
  return { p50Ms: percentile(latencies, 0.5), p99Ms: percentile(latencies, 0.99) };
}
