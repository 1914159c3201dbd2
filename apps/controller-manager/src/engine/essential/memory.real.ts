import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemRandom } from '@hangar/core';
import { virtualClock } from '@hangar/testkit';
import type { Serving } from '../../contract.ts';
import { settledHeapBytes } from '../../fleet/testing/heap.ts';
import { essentialEngine } from './engine.ts';
import { clusterOf, silent } from './testing/ground.ts';
import { TestOwnership } from './testing/ownership.ts';
import { ToldFeed } from './testing/told-feed.ts';

const count = 2_000;
const bytesMax = 2_048;

test(`each of ${count} idle clusters takes at most ${bytesMax} bytes of the engine`, async () => {
  const clock = virtualClock();
  const feed = new ToldFeed();
  const kubeconfigs = { read: () => Promise.reject(new Error('nothing is to be read')) };
  const engine = essentialEngine({ feed, kubeconfigs, clock, random: systemRandom, log: silent });
  const ending = new AbortController();
  const running = engine.run(ending.signal);
  feed.listener.synced();
  const ownership = new TestOwnership();
  const assignments = Array.from({ length: count }, (_, at) => ({
    cluster: clusterOf(`team-${at}-production`),
    service: 'controllers' as const,
    ownership,
    report: () => undefined,
  }));
  const servings: Serving[] = [];
  const comeAll = (): void => {
    for (const assignment of assignments) {
      servings.push(engine.serve(assignment));
      feed.tenant(assignment.cluster.name, assignment.cluster.source.name);
    }
  };
  const leaveAll = async (): Promise<void> => {
    await Promise.all(servings.splice(0).map((serving) => serving.stop()));
    for (const { cluster } of assignments) feed.gone(cluster.name);
  };
  // Warms up compiled code and grown buffers.
  comeAll();
  await leaveAll();
  const before = await settledHeapBytes();
  comeAll();
  const bytes = Math.round(((await settledHeapBytes()) - before) / count);
  assert.ok(bytes <= bytesMax, `${bytes} bytes`);
  assert.ok(bytes > 100, `${bytes} bytes: nothing was measured`);
  await leaveAll();
  const left = Math.round(((await settledHeapBytes()) - before) / count);
  assert.ok(left < 100, `${left} bytes are left of each when all have gone`);
  ending.abort();
  await running;
});
