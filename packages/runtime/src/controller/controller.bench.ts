/**
 * `node packages/runtime/src/controller/controller.bench.ts`: measures the overhead of a request whose reconciler does nothing: enqueue,
 * dequeue, context, metrics, done. With reconcilers that await and that do not, for one cluster and for a thousand.
 */

import { Logger, systemClock } from '@hangar/core';
import { MetricsRegistry } from '../metrics/registry.ts';
import { newController } from './new-controller.ts';
import type { Reconciler } from './reconcile.ts';
import { bareCluster } from './testing/bare-cluster.ts';

const requests = 200_000;
const log = new Logger({ level: 'silent', format: 'json', clock: systemClock });

/** No-op reconcilers, one for each way to write them. */
export const noOps: Readonly<Record<string, Reconciler>> = {
  'returns nothing': () => {},
  'is async': async () => {},
  'is async, takes the context apart': async (_request, { client, signal, log }) => {
    if (signal.aborted) log.info('never', { client });
  },
};

/** Returns the reconciles per second of one round. */
export async function noOpRate(reconcile: Reconciler, clusters: number): Promise<number> {
  const { promise: all, resolve } = Promise.withResolvers<void>();
  let left = requests;
  const controller = newController({
    name: 'bench',
    concurrency: 10,
    metrics: new MetricsRegistry(),
    reconcileTimeoutMs: 60_000,
    log,
    reconcile: (request, context) => {
      if (--left === 0) resolve();
      return reconcile(request, context);
    },
  });
  const stop = new AbortController();
  for (let i = 0; i < clusters; i++) controller.engage(`c${i}`, bareCluster(`c${i}`), stop.signal);
  await new Promise((resolve) => setImmediate(resolve));
  const running = controller.start(stop.signal);
  const begunMs = performance.now();
  for (let i = 0; i < requests; i++) {
    controller.trigger({ cluster: `c${i % clusters}`, namespace: 'default', name: `object-${i}` });
  }
  await all;
  const rate = requests / ((performance.now() - begunMs) / 1_000);
  stop.abort();
  await running;
  return rate;
}

if (import.meta.main) {
  for (const [what, reconcile] of Object.entries(noOps)) {
    for (const clusters of [1, 1_000]) {
      let best = 0;
      for (let round = 0; round < 4; round++) best = Math.max(best, await noOpRate(reconcile, clusters));
      console.log(`${what}, ${clusters} clusters: ${Math.round(best).toLocaleString('en')} reconciles/s`);
    }
  }
}
