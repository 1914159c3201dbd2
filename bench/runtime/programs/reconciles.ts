/** Reconciles per second without work: of generated requests, then of objects on a server. */

import { connect } from '@hangar/client';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { Manager } from '@hangar/runtime';
import { noOpRate, noOps } from '../../../packages/runtime/src/controller/controller.bench.ts';
import { profiled } from '../profile.ts';
import { configOf, log, say, told } from './talk.ts';

export interface ReconcilesOptions {
  readonly kubeconfig: string;
  readonly path: string;
  readonly objects: number;
  readonly rounds: number;
}

export interface NoOps {
  readonly what: string;
  readonly clusters: number;
  readonly perSecond: number;
}

export interface Synced {
  /** From the start of the manager to the last object reconciled. */
  readonly elapsedMs: number;
  readonly cpuMs: number;
}

const { kubeconfig, path, objects, rounds } = told<ReconcilesOptions>();

for (const [what, reconcile] of Object.entries(noOps)) {
  for (const clusters of [1, 1_000]) {
    const rates: number[] = [];
    for (let round = 0; round < rounds; round++) rates.push(await noOpRate(reconcile, clusters));
    // The median: one round in which the machine did something else, or in which nothing was compiled yet, does not count.
    rates.sort((one, other) => one - other);
    say('no-ops', { what, clusters, perSecond: rates[Math.floor(rates.length / 2)]! } satisfies NoOps);
  }
}

const config = await configOf(kubeconfig, path);
// The first time is what every start costs; the others are what the code does when it is compiled.
for (let round = 0; round < rounds; round++) say('synced', await synced());
say('profile', await profiled(async () => void (await synced())));
say('done');
process.disconnect!();

async function synced(): Promise<Synced> {
  const client = connect(config);
  const { promise: all, resolve } = Promise.withResolvers<void>();
  const seen = new Set<string>();
  const stop = new AbortController();
  const manager = new Manager({
    client,
    closesClient: true,
    metrics: false,
    health: false,
    log,
    cache: { defaults: { namespace: 'default' } },
  });
  manager.controller({
    name: 'no-op',
    for: ConfigMap,
    concurrency: 10,
    reconcile({ name }) {
      seen.add(name);
      if (seen.size >= objects) resolve();
    },
  });
  const [begunMs, cpuBefore] = [performance.now(), process.cpuUsage()];
  const running = manager.run(stop.signal);
  await Promise.race([all, running]);
  const elapsedMs = performance.now() - begunMs;
  const { user, system } = process.cpuUsage(cpuBefore);
  stop.abort();
  await running;
  return { elapsedMs, cpuMs: (user + system) / 1_000 };
}
