/** Reported states of clusters, with a feed that the test controls. */

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
  assert.equal(late.said, 'Starting/WaitingForHandoff');
  await clock.advance(9_900);
  assert.equal(late.said, 'Starting/WaitingForHandoff');
  await clock.advance(200);
  assert.equal(late.said, 'Failed/EngineNotSupported');
  assert.match(late.states.at(-1)!.message, /registration-blue/);
  feed.tenant('tenant-blue', 'registration-blue');
  assert.equal(late.said, 'Starting/SyncingObjects');
  assert.deepEqual(feed.retold, ['tenant-blue']);
  feed.listener.clusterTold('tenant-blue');
  assert.equal(late.said, 'Ready/Serving');
  feed.listener.clusterGone('tenant-blue');
  assert.equal(late.said, 'Starting/WaitingForHandoff');
  await late.stop();
  await clock.advance(60_000);
  assert.equal(late.said, 'Starting/WaitingForHandoff', 'nothing is said after the end');
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
  assert.deepEqual([served.said, feed.retold], ['Starting/SyncingObjects', ['red']]);
  feed.listener.clusterTold('red');
  assert.equal(served.said, 'Ready/Serving');
});

test('a feed that is away is told after a moment, with the right that is missing, and over when everything was told', async () => {
  const { clock, feed, engine } = subject();
  const served = serve(engine, clusterOf('red'));
  feed.tenant('red', 'registration-red');
  feed.listener.synced();
  feed.listener.interrupted!(new Error('connection lost'));
  // Retries meanwhile do not shorten the delay.
  for (let seconds = 0; seconds < 29; seconds++) {
    await clock.advance(1_000);
    feed.listener.interrupted!(new Error(`connection refused, attempt ${seconds}`));
  }
  assert.equal(served.said, 'Ready/Serving');
  await clock.advance(1_100);
  assert.equal(served.said, 'Waiting/FeedUnavailable');
  const { length } = served.states;
  feed.listener.interrupted!(new Error('no route to host'));
  assert.equal(served.states.length, length, 'whatever the words, it is the same');
  feed.listener.interrupted!(refused(403));
  assert.match(served.states.at(-1)!.message, /"tenants\/feed" is missing$/);
  feed.listener.reset();
  feed.tenant('red', 'registration-red');
  assert.equal(served.said, 'Waiting/FeedUnavailable');
  feed.listener.synced();
  assert.equal(served.said, 'Ready/Serving');
});

test('a feed that was never there is told of sooner, and what it may lack', async () => {
  for (const [code, words] of [
    [401, /rejected the credentials/],
    [404, /has no tenant feed/],
    [503, /see the log/],
  ] as const) {
    const { clock, feed, engine } = subject();
    const served = serve(engine, clusterOf('red'));
    feed.listener.interrupted!(refused(code));
    await clock.advance(3_100);
    assert.equal(served.said, 'Waiting/FeedUnavailable');
    assert.match(served.states.at(-1)!.message, words);
  }
});

test('a feed that comes back before half a minute was never away', async () => {
  const { clock, feed, engine } = subject();
  const served = serve(engine, clusterOf('red'));
  feed.tenant('red', 'registration-red');
  feed.listener.synced();
  const { length } = served.states;
  feed.listener.interrupted!(new Error('connection lost'));
  await clock.advance(20_000);
  feed.listener.reset();
  feed.tenant('red', 'registration-red');
  feed.listener.synced();
  await clock.advance(60_000);
  assert.equal(served.states.length, length);
});

const refused = (code: 401 | 403 | 404 | 503): Error =>
  new ReceivedStatusError({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code, message: 'no' });

test('a registration that names another control plane is not served by the mark on the one before', () => {
  const { feed, engine } = subject();
  const source = { kind: 'ControlPlaneRegistration', name: 'moving', uid: 'u' } as const;
  feed.tenant('red', 'moving', 'red');
  feed.tenant('blue', undefined, 'blue');
  feed.listener.synced();
  const served = serve(engine, clusterOf('blue', { source }));
  assert.deepEqual([served.said, feed.retold], ['Starting/WaitingForHandoff', []]);
  feed.tenant('blue', 'moving', 'blue');
  assert.deepEqual([served.said, feed.retold], ['Starting/SyncingObjects', ['blue']]);
  feed.tenant('red', undefined, 'red');
  assert.equal(served.said, 'Starting/SyncingObjects');
});

test('whoever leaves a Tenant to us may be late, unless the cluster is elsewhere', async () => {
  const { clock, feed, engine } = subject();
  feed.listener.synced();
  const at = (address: string) => ({ address });
  const [own, foreign, other] = [
    serve(engine, clusterOf('own', at('https://line.example/clusters/own/control-plane'))),
    serve(engine, clusterOf('foreign', at('https://kube-apiserver.example:6443'))),
    serve(engine, clusterOf('other', at('https://another.example/clusters/else/control-plane'))),
  ];
  await clock.advance(10_100);
  assert.equal(own.said, 'Failed/EngineNotSupported', 'there is no Tenant');
  for (const path of ['own', 'foreign', 'other']) feed.tenant(path);
  assert.equal(own.said, 'Starting/WaitingForHandoff');
  await clock.advance(3_600_000);
  assert.deepEqual(
    [own.said, foreign.said, other.said],
    ['Starting/WaitingForHandoff', 'Failed/EngineNotSupported', 'Failed/EngineNotSupported'],
  );
  feed.gone('own');
  assert.equal(own.said, 'Failed/EngineNotSupported');
});

test('of two Tenants that name one registration, the second is served when the first is not', () => {
  const { feed, engine } = subject();
  const served = serve(engine, clusterOf('red'));
  feed.tenant('one', 'registration-red');
  feed.tenant('two', 'registration-red');
  feed.listener.synced();
  assert.equal(served.said, 'Ready/Serving');
  feed.tenant('one', undefined, 'red');
  assert.deepEqual([served.said, feed.retold], ['Starting/SyncingObjects', ['two']]);
});
