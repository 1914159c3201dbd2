/** What is said of clusters, by a feed that a test tells. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReceivedStatusError } from '@hangar/client';
import { systemRandom } from '@hangar/core';
import { virtualClock } from '@hangar/testkit';
import { essentialEngine } from './engine.ts';
import { answerOf, clusterOf, kubeconfigOf, serve, silent } from './testing/ground.ts';
import { ToldFeed } from './testing/told-feed.ts';

const nothingThere = answerOf(404);

function subject() {
  const clock = virtualClock();
  const feed = new ToldFeed();
  const kubeconfigs = { read: () => Promise.resolve(kubeconfigOf('red', 'first')) };
  const connect = () => ({ request: () => Promise.resolve(nothingThere), close: () => Promise.resolve() });
  const engine = essentialEngine({ feed, kubeconfigs, connect, clock, random: systemRandom, log: silent });
  const ending = new AbortController();
  void engine.run(ending.signal);
  return { clock, feed, engine };
}

test('a cluster that is no tenant of the Hangar is not served, and that is said after a while', async () => {
  const { clock, feed, engine } = subject();
  const served = serve(engine, clusterOf('red'));
  await clock.advance(60_000);
  assert.equal(served.said, 'Starting/WaitingForFeed');
  feed.listener.synced();
  assert.equal(served.said, 'Failed/EngineNotSupported', 'it had its time');
  const late = serve(engine, clusterOf('blue'));
  assert.equal(late.said, 'Starting/WaitingForHandOver');
  await clock.advance(9_900);
  assert.equal(late.said, 'Starting/WaitingForHandOver');
  await clock.advance(200);
  assert.equal(late.said, 'Failed/EngineNotSupported');
  assert.match(late.states.at(-1)!.message, /registration-blue/);
  feed.tenant('tenant-blue', 'registration-blue');
  assert.equal(late.said, 'Starting/TakingOver');
  assert.deepEqual(feed.retold, ['tenant-blue']);
  feed.listener.clusterTold('tenant-blue');
  assert.equal(late.said, 'Ready/Serving');
  feed.listener.clusterGone('tenant-blue');
  assert.equal(late.said, 'Starting/WaitingForHandOver');
  await late.stop();
  await clock.advance(60_000);
  assert.equal(late.said, 'Starting/WaitingForHandOver', 'nothing is said after the end');
});

test('those that are there at the beginning are ready when the beginning is over', () => {
  const { feed, engine } = subject();
  const served = serve(engine, clusterOf('red'));
  feed.tenant('red', 'registration-red');
  feed.listener.synced();
  assert.deepEqual([served.said, feed.retold], ['Ready/Serving', []]);
});

test('one that comes into our charge later is told anew before it is ready', () => {
  const { feed, engine } = subject();
  feed.tenant('red', 'registration-red');
  feed.listener.synced();
  assert.deepEqual(feed.retold, []);
  const served = serve(engine, clusterOf('red'));
  assert.deepEqual([served.said, feed.retold], ['Starting/TakingOver', ['red']]);
  feed.listener.clusterTold('red');
  assert.equal(served.said, 'Ready/Serving');
});

test('a feed that is away is told after a moment, with the right that is missing, and over when everything was told', async () => {
  const { clock, feed, engine } = subject();
  const served = serve(engine, clusterOf('red'));
  feed.tenant('red', 'registration-red');
  feed.listener.synced();
  feed.listener.interrupted!(new Error('connection lost'));
  await clock.advance(2_900);
  assert.equal(served.said, 'Ready/Serving');
  await clock.advance(200);
  assert.equal(served.said, 'Waiting/FeedUnavailable');
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    code: 403,
    message: 'no',
  } as const;
  feed.listener.interrupted!(new ReceivedStatusError(status));
  assert.match(served.states.at(-1)!.message, /"tenants\/feed" is missing: no$/);
  feed.listener.reset();
  feed.tenant('red', 'registration-red');
  assert.equal(served.said, 'Waiting/FeedUnavailable');
  feed.listener.synced();
  assert.equal(served.said, 'Ready/Serving');
});

test('a feed that comes back at once was never away', async () => {
  const { clock, feed, engine } = subject();
  const served = serve(engine, clusterOf('red'));
  feed.tenant('red', 'registration-red');
  feed.listener.synced();
  const { length } = served.states;
  feed.listener.interrupted!(new Error('connection lost'));
  await clock.advance(1_000);
  feed.listener.reset();
  feed.tenant('red', 'registration-red');
  feed.listener.synced();
  await clock.advance(10_000);
  assert.equal(served.states.length, length);
});

test('of two Tenants that name one registration, the second is served when the first is not', () => {
  const { feed, engine } = subject();
  const served = serve(engine, clusterOf('red'));
  feed.tenant('one', 'registration-red');
  feed.tenant('two', 'registration-red');
  feed.listener.synced();
  assert.equal(served.said, 'Ready/Serving');
  feed.tenant('one');
  assert.deepEqual([served.said, feed.retold], ['Starting/TakingOver', ['two']]);
});
