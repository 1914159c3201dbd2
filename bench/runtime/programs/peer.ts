/**
 * One of several operators that share clusters: looks at each cluster once a second, for a moment, and reports every look. The clusters are
 * names only: the measurement is about ownership, not about the cost of objects.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '@hangar/client';
import { newCluster, newManager, signals } from '@hangar/runtime';
import { fixed, knownCluster, ShardCoordinator } from '@hangar/runtime/clusters';
import { configOf, log, nowMs, say, told } from './talk.ts';

export interface PeerOptions {
  readonly kubeconfig: string;
  readonly group: string;
  readonly peer: string;
  readonly weight: number;
  readonly clusters: readonly string[];
}

/** A look at a cluster, with begin and end. */
export type Look = readonly [cluster: string, beginMs: number, endMs: number];

const lookEveryMs = 1_000;
const lookMs = 20;
const tellEveryMs = 50;

const { kubeconfig, group, peer, weight, clusters } = told<PeerOptions>();
const config = await configOf(kubeconfig);
const client = connect(config);
const manager = await newManager({
  config,
  clusters: {
    provider: fixed(clusters.map((name) => knownCluster(name, newCluster({ name, client, log })))),
    coordinator: new ShardCoordinator({ client, group, peer, weight, log }),
  },
  metrics: false,
  health: false,
  log,
});

let looks: Look[] = [];
const tell = (): void => {
  if (looks.length > 0) say('looks', looks);
  looks = [];
};
const telling = setInterval(tell, tellEveryMs);

manager.controller({
  name: 'look',
  sources: [
    async ({ enqueue }, signal) => {
      enqueue({ name: 'all' });
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    },
  ],
  concurrency: 256,
  async reconcile({ cluster }) {
    const beginMs = nowMs();
    await sleep(lookMs);
    looks.push([cluster, beginMs, nowMs()]);
    return { requeueAfterMs: lookEveryMs };
  },
});
await manager.run(signals());
clearInterval(telling);
tell();
await client.close();
process.disconnect!();
