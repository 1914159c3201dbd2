import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { Logger } from '@hangar/core';
import { administrator, startTestCluster, virtualClock } from '@hangar/testkit';
import type { TestCluster, VirtualClock } from '@hangar/testkit';
import { Manager } from '../../manager/manager.ts';
import { newCluster } from '../../new-cluster.ts';
import { fixed, knownCluster } from '../providers/fixed.ts';
import { ShardCoordinator } from './shard-coordinator.ts';

const reconcileMs = 400;
const names = Array.from({ length: 12 }, (_, at) => `c${at}`);

interface Story {
  /** Running reconciles: cluster to peer. */
  readonly underWay: Map<string, string>;
  /** Peer that started last, by cluster. */
  readonly begun: Map<string, string>;
  readonly written: { readonly by: string; readonly cluster: string }[];
  readonly refused: unknown[];
  overlaps: number;
}

function process(clock: VirtualClock, home: TestCluster, peer: string, story: Story) {
  const log = new Logger({ level: 'silent', format: 'text', clock });
  const connect = () => home.clientOf(administrator);
  const client = connect();
  const manager = new Manager({
    client,
    clock,
    log,
    metrics: false,
    health: false,
    clusters: {
      // All clusters are the same server: the written object names the cluster and the peer.
      provider: fixed(
        names.map((name) => knownCluster(name, () => newCluster({ name, client: connect(), clock, log }))),
      ),
      coordinator: new ShardCoordinator({ client, clock, peer, log }),
    },
  });
  manager.controller({
    name: 'slow',
    for: ConfigMap,
    concurrency: 50,
    async reconcile({ cluster, namespace, name }, { client: clusterClient }) {
      if (name !== 'trigger') return undefined;
      if (story.underWay.has(cluster)) story.overlaps++;
      story.underWay.set(cluster, peer);
      story.begun.set(cluster, peer);
      try {
        await new Promise<void>((resolve) => clock.after(reconcileMs, resolve));
        const metadata = { namespace, name: `written-${cluster}` };
        await clusterClient.apply(ConfigMap, { metadata, data: { by: peer } }, { fieldManager: 'test', force: true });
        story.written.push({ by: peer, cluster });
      } catch (error) {
        story.refused.push(error);
      } finally {
        story.underWay.delete(cluster);
      }
      return { requeueAfterMs: 50 };
    },
  });
  const end = new AbortController();
  return { running: manager.run(end.signal), stop: () => end.abort() };
}

test('work that is under way when a process leaves finishes, writes included, before another begins', async () => {
  const clock = virtualClock();
  await using home = await startTestCluster({ clock });
  await home.client.create(ConfigMap, { metadata: { namespace: 'default', name: 'trigger' } });
  const story: Story = { underWay: new Map(), begun: new Map(), written: [], refused: [], overlaps: 0 };
  const [first, second] = ['x-0', 'x-1'].map((peer) => process(clock, home, peer, story));
  const workers = (): Set<string> => new Set(story.underWay.values());
  try {
    await clock.until(() => story.underWay.size === names.length && workers().size === 2, { withinMs: 20_000 });

    const left = [...story.underWay].filter(([, peer]) => peer === 'x-0').map(([cluster]) => cluster);
    story.written.length = 0;
    const leftAtMs = clock.monotonicMs();
    first!.stop();
    await clock.until(() => left.every((cluster) => story.begun.get(cluster) === 'x-1'), { withinMs: 5_000 });
    const tookMs = clock.monotonicMs() - leftAtMs;
    for (const cluster of left) assert.equal(story.written.find((one) => one.cluster === cluster)?.by, 'x-0', cluster);
    assert.deepEqual(story.refused, []);
    assert.equal(story.overlaps, 0);
    assert.ok(tookMs <= reconcileMs + 1_000, `${tookMs} ms`);
  } finally {
    for (const one of [first!, second!]) one.stop();
    await clock.run(Promise.all([first!.running, second!.running]));
  }
});
