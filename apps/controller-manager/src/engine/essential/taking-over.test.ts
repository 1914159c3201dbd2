import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemRandom } from '@hangar/core';
import { virtualClock } from '@hangar/testkit';
import { essentialEngine } from './engine.ts';
import { clusterOf, silent } from './testing/ground.ts';
import { TestOwnership } from './testing/ownership.ts';
import { ToldFeed } from './testing/told-feed.ts';

test('a cluster that comes into our charge while everything is told is ready when all of it was, and not with the others', async () => {
  const feed = new ToldFeed();
  const kubeconfigs = { read: () => Promise.reject(new Error('nothing is to be read')) };
  const engine = essentialEngine({ feed, kubeconfigs, clock: virtualClock(), random: systemRandom, log: silent });
  const ending = new AbortController();
  const running = engine.run(ending.signal);
  const said: Record<string, string> = {};
  const serve = (name: string): void => {
    engine.serve({
      cluster: clusterOf(name),
      service: 'controllers',
      ownership: new TestOwnership(),
      report: ({ phase, reason }) => void (said[name] = `${phase}/${reason}`),
    });
  };
  serve('early');
  for (const name of ['early', 'late']) feed.tenant(name, `registration-${name}`);
  // Its objects may have been delivered to no listener so far.
  serve('late');
  assert.deepEqual(feed.retold, ['late']);
  feed.listener.synced();
  assert.deepEqual(said, { early: 'Ready/Serving', late: 'Starting/SyncingObjects' });
  feed.listener.clusterTold('late');
  assert.deepEqual(said, { early: 'Ready/Serving', late: 'Ready/Serving' });
  ending.abort();
  await running;
});
