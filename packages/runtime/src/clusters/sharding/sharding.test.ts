import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import { RestClient } from '@hangar/client';
import type { Clock } from '@hangar/core';
import { faultyTransport, isWrite } from '@hangar/testkit';
import { leaseKind } from './leases.ts';
import { ShardCoordinator } from './shard-coordinator.ts';
import { measureSharding } from './sharding.bench.ts';
import { clustersNamed, Fleet } from './testing/fleet.ts';
import { defaultTimings, validityMs } from './timings.ts';

test('the figures are within their bars', async () => {
  const figures = await measureSharding();
  assert.ok(figures.maxOverMin <= 1.25, figures.shares.join(', '));
  assert.ok(figures.weightError <= 0.1, `${figures.weightError}`);
  assert.ok(figures.leaseWritesPerSecond <= 2, `${figures.leaseWritesPerSecond}`);
  assert.ok(figures.cleanExitMs <= 1_000, `${figures.cleanExitMs}`);
  assert.ok(figures.joinMs <= 1_000, `${figures.joinMs}`);
  assert.ok(figures.crashTakeOverMs <= 15_000, `${figures.crashTakeOverMs}`);
});

test('a process is a member while it is in the ring and can prove that it lives', async () => {
  await using fleet = await Fleet.open(clustersNamed(4));
  const [one, two] = await fleet.startShared(2);
  assert.ok(one!.coordinator.isMember && two!.coordinator.isMember);
  two!.cut();
  await fleet.clock.advance(defaultTimings.leaseMs);
  assert.equal(two!.coordinator.isMember, false);
  await fleet.clock.run(one!.stop());
  assert.equal(one!.coordinator.isMember, false);
});

describe('hand-over', () => {
  test('a cluster that is slow to come to rest delays nobody but itself', async () => {
    await using fleet = await Fleet.open(clustersNamed(40));
    const [leaver, ...rest] = await fleet.startShared(3);
    const slow = [...leaver!.held.keys()][0]!;
    leaver!.drainMs = (cluster) => (cluster === slow ? 8_000 : 20);
    void leaver!.stop();
    const count = (): number => rest.reduce((sum, { held }) => sum + held.size, 0);
    assert.ok((await fleet.until(() => count() === 39)) <= 1_000);
    assert.ok(rest.every(({ held }) => !held.has(slow)));
    const slowMs = await fleet.until(() => count() === 40);
    assert.ok(slowMs > 6_500 && slowMs < 8_500, `${slowMs}`);
  });

  test('one that never comes to rest is given away in the end, and counted; nothing can be written there any more', async () => {
    await using fleet = await Fleet.open(clustersNamed(10));
    const [first, second] = await fleet.startShared(2, { timings: { drainTimeoutMs: 5_000 } });
    const ownerships = [...first!.held.values()];
    first!.drainMs = () => 60_000;
    void first!.stop();
    const takenMs = await fleet.until(() => second!.held.size === 10);
    assert.ok(takenMs >= 5_000 && takenMs < 6_500, `${takenMs}`);
    for (const ownership of ownerships) assert.throws(() => ownership.check(), { code: 'Fenced' });
    assert.equal(first!.metric('drains_abandoned_total'), ownerships.length);
    await fleet.clock.advance(60_000);
  });

  test('a cluster that drains when the lease of its peer is deleted waits until that peer has lost its rights', async () => {
    await using fleet = await Fleet.open(clustersNamed(12));
    const [former] = await fleet.startShared(1);
    former!.drainMs = () => 20_000;
    const rights = [...former!.held];
    const { epoch } = former!.coordinator;
    // Two epochs: the members of the first one acknowledge the second one before the third one is written.
    const others = [fleet.start({ peer: 'x-1' })];
    await fleet.until(() => former!.coordinator.epoch === epoch + 1);
    await fleet.clock.advance(1_000);
    others.push(fleet.start({ peer: 'x-2' }));
    await fleet.until(() => former!.coordinator.epoch === epoch + 2);
    await fleet.clock.advance(1_000);
    const drained = rights.filter(([name]) => !former!.held.has(name));
    // The peer cannot see the deletion before it renews its lease.
    former!.faults.silenceWatches();
    await fleet.server.client.delete(leaseKind, { namespace: 'default', name: 'hangar-shard.default.peer.x-0' });
    assert.ok(drained.every(([, ownership]) => ownership.remainingMs() > 0));
    const isTaken = ([name]: (typeof rights)[number]): boolean => others.some(({ held }) => held.has(name));
    await fleet.until(() => {
      for (const right of drained.filter(isTaken))
        assert.equal(right[1].remainingMs(), 0, `${right[0]} has two owners`);
      return drained.every(isTaken);
    });
  });

  test('tokens grow with every change of hands', async () => {
    await using fleet = await Fleet.open(clustersNamed(10));
    const [first, second] = await fleet.startShared(2);
    const before = new Map([...first!.held].map(([name, { token }]) => [name, token]));
    await fleet.clock.run(first!.stop());
    await fleet.until(() => second!.held.size === 10);
    for (const [name, token] of before) assert.ok(second!.held.get(name)!.token > token);
  });

  test('a process that starts again under its name after a clean exit has its clusters back at once', async () => {
    await using fleet = await Fleet.open(clustersNamed(30));
    const [first, second] = await fleet.startShared(2);
    await fleet.clock.run(first!.stop());
    const again = fleet.start({ peer: 'x-0' });
    const backMs = await fleet.until(() => fleet.isShared([again, second!]) && again.held.size > 0);
    assert.ok(backMs <= 1_000, `${backMs}`);
  });

  test('a single process that exits cleanly is followed at once by one of another name', async () => {
    await using fleet = await Fleet.open(clustersNamed(5));
    const [only] = await fleet.startShared(1);
    await fleet.clock.run(only!.stop());
    const next = fleet.start({ peer: 'y-0' });
    assert.ok((await fleet.until(() => next.held.size === 5)) <= 1_000);
  });

  test('peers that start together join together: one epoch, not one each', async () => {
    await using fleet = await Fleet.open(clustersNamed(20));
    const peers = await fleet.startShared(5);
    const first = Math.floor(Date.UTC(2026, 0, 1) / 1_000);
    assert.ok(peers[0]!.coordinator.epoch - first <= 3, `${peers[0]!.coordinator.epoch - first} epochs`);
  });

  test('the leases of those who left are cleared away', async () => {
    await using fleet = await Fleet.open(clustersNamed(5));
    const [first] = await fleet.startShared(3);
    await fleet.clock.run(first!.stop());
    await fleet.clock.advance(60_000);
    const { items } = await fleet.clock.run(fleet.server.client.list(leaseKind, { namespace: 'default' }));
    const names = items.map(({ metadata }) => metadata.name).sort();
    assert.deepEqual(names, [
      'hangar-shard.default.peer.x-1',
      'hangar-shard.default.peer.x-2',
      'hangar-shard.default.ring',
    ]);
  });
});

describe('faults', () => {
  test('one failed renewal costs nothing, nor does one whose answer is lost, nor one that hangs', async () => {
    await using fleet = await Fleet.open(clustersNamed(10));
    const [first] = await fleet.startShared(2);
    const ended: string[] = [];
    for (const [name, { signal }] of first!.held) signal.addEventListener('abort', () => ended.push(name));
    first!.faults.failNext(1, isWrite);
    await fleet.clock.advance(9_000);
    first!.faults.loseAnswers(1, isWrite);
    await fleet.clock.advance(9_000);
    const hold = first!.faults.hang(isWrite);
    await fleet.until(() => hold.waiting === 1);
    await fleet.clock.advance(1_500);
    hold.release();
    await fleet.clock.advance(9_000);
    assert.deepEqual(ended, []);
  });

  test('a request that hangs for ever is given up, and the next one renews', async () => {
    await using fleet = await Fleet.open(clustersNamed(10));
    const [first] = await fleet.startShared(2);
    let isFirst = true;
    first!.faults.hang((request) => isWrite(request) && isFirst && !(isFirst = false));
    await fleet.clock.advance(20_000);
    assert.equal(isFirst, false);
    assert.ok(first!.held.size > 0);
    for (const ownership of first!.held.values()) ownership.check();
  });

  test('without the server everything is kept as long as it can be proven, fenced then, and back by itself', async () => {
    await using fleet = await Fleet.open(clustersNamed(10));
    const peers = await fleet.startShared(3);
    const ownerships = peers.flatMap(({ held }) => [...held.values()]);
    for (const peer of peers) peer.cut();
    await fleet.clock.advance(validityMs(defaultTimings) - defaultTimings.renewEveryMs - 100);
    for (const ownership of ownerships) ownership.check();
    await fleet.clock.advance(defaultTimings.renewEveryMs + 200);
    for (const ownership of ownerships) {
      assert.throws(() => ownership.check(), { code: 'Fenced' });
      assert.ok(ownership.signal.aborted);
      assert.equal(ownership.remainingMs(), 0);
    }
    await fleet.clock.advance(60_000);
    const epoch = peers[0]!.coordinator.epoch;
    for (const peer of peers) peer.faults.heal();
    assert.ok((await fleet.until(() => fleet.isShared())) <= 8_000);
    assert.equal(peers[0]!.coordinator.epoch, epoch, 'nobody was declared dead because all were out of touch');
  });

  test('watches that break, end or fall silent are noticed', async () => {
    await using fleet = await Fleet.open(clustersNamed(10));
    const [first, second, third] = await fleet.startShared(3);
    first!.faults.cutWatches();
    second!.faults.silenceWatches();
    await fleet.clock.run(third!.stop());
    assert.ok((await fleet.until(() => fleet.isShared([first!, second!]))) <= 5_000);
  });

  test('without a right to watch, peers look at the pace of the renewals', async () => {
    await using fleet = await Fleet.open(clustersNamed(10));
    const [first, second, third] = await fleet.startShared(3);
    for (const peer of [first!, second!]) {
      peer.faults.failNext(Infinity, ({ target }) => target.includes('watch=true'));
      peer.faults.cutWatches();
    }
    await fleet.clock.advance(20_000);
    await fleet.clock.run(third!.stop());
    assert.ok((await fleet.until(() => fleet.isShared([first!, second!]))) <= 15_000);
  });

  test('leases and a ring that somebody has damaged are put in order', async () => {
    await using fleet = await Fleet.open(clustersNamed(10));
    await fleet.startShared(3);
    const { client } = fleet.server;
    for (const name of ['ring', 'peer.x-1']) {
      const key = { namespace: 'default', name: `hangar-shard.default.${name}` };
      const annotations = { 'hangar.dev/shard-ring': '{"epoch":"?"', 'hangar.dev/shard-peer': '[]' };
      await fleet.clock.run(client.patch(leaseKind, key, { type: 'merge', body: { metadata: { annotations } } }));
    }
    await fleet.clock.advance(20_000);
    assert.ok(fleet.isShared());
    const joiner = fleet.start({ peer: 'x-9' });
    await fleet.until(() => fleet.isShared() && joiner.held.size > 0);
  });

  test('a second process of the same name waits, and the first goes on', async () => {
    await using fleet = await Fleet.open(clustersNamed(10));
    const [first, second] = await fleet.startShared(2);
    const twin = fleet.start({ peer: 'x-0' });
    await fleet.clock.advance(40_000);
    assert.equal(twin.held.size, 0);
    assert.ok(fleet.isShared([first!, second!]));
    await fleet.clock.run(first!.stop());
    await fleet.until(() => fleet.isShared([twin, second!]) && twin.held.size > 0);
  });
});

test('nothing is left behind: after a clean exit no timer of the coordinator waits and no watch is open', async () => {
  await using fleet = await Fleet.open(clustersNamed(10));
  const waiting = new Set<object>();
  const clock: Clock = {
    now: () => fleet.clock.now(),
    monotonicMs: () => fleet.clock.monotonicMs(),
    soon: (callback) => clock.after(0, callback),
    after(delayMs, callback) {
      const mark = {};
      waiting.add(mark);
      const timer = fleet.clock.after(delayMs, () => {
        waiting.delete(mark);
        callback();
      });
      return {
        cancel() {
          waiting.delete(mark);
          timer.cancel();
        },
      };
    },
  };
  await fleet.startShared(2);
  const faults = faultyTransport(fleet.server.transportOf(), { clock: fleet.clock });
  const client = new RestClient(faults, { clock: fleet.clock });
  const coordinator = new ShardCoordinator({ client, clock, peer: 'watched' });
  for (const { name } of fleet.clusters) {
    coordinator.follow({ name }, { acquired: () => {}, released: () => Promise.resolve() });
  }
  const stop = new AbortController();
  const done = coordinator.run(stop.signal);
  await fleet.until(() => coordinator.ownedCount > 0);
  assert.ok(waiting.size > 0 && faults.openWatches === 1);
  stop.abort();
  await fleet.clock.run(done);
  assert.equal(waiting.size, 0);
  assert.equal(faults.openWatches, 0);
});

describe('groups and clusters', () => {
  test('two groups in one namespace do not disturb each other', async () => {
    await using fleet = await Fleet.open(clustersNamed(12));
    const ours = [0, 1].map((i) => fleet.start({ group: 'a', peer: `x-${i}` }));
    const theirs = [0, 1].map((i) => fleet.start({ group: 'a-b', peer: `x-${i}` }));
    await fleet.until(() => fleet.isShared(ours) && fleet.isShared(theirs));
    const { epoch } = ours[0]!.coordinator;
    await fleet.clock.run(theirs[0]!.stop());
    await fleet.until(() => theirs[1]!.held.size === 12);
    assert.equal(ours[0]!.coordinator.epoch, epoch);
    assert.ok(fleet.isShared(ours));
  });

  test('clusters that come and go are taken and released', async () => {
    await using fleet = await Fleet.open(clustersNamed(6));
    const peers = await fleet.startShared(2);
    for (const peer of peers) peer.follow({ name: 'late' });
    assert.equal(peers.filter(({ held }) => held.has('late')).length, 1, 'at once');
    const owner = peers.find(({ held }) => held.has('late'))!;
    const ownership = owner.held.get('late')!;
    owner.drainMs = () => 500;
    for (const peer of peers) peer.unfollow('late');
    assert.equal(ownership.signal.aborted, true, 'nothing new begins');
    ownership.check(); // running work may finish
    await fleet.clock.advance(490);
    ownership.check();
    await fleet.clock.advance(20);
    assert.throws(() => ownership.check(), { code: 'Fenced' }, 'it has come to rest');
    assert.equal(ownership.remainingMs(), 0);
    // Followed again before the first has drained: not twice in one process.
    owner.follow({ name: 'late' });
    await fleet.until(() => owner.held.has('late'));
    owner.unfollow('late');
    owner.follow({ name: 'late' });
    assert.equal(owner.held.has('late'), false);
    assert.ok((await fleet.until(() => owner.held.has('late'))) >= 490);
  });

  test('impossible options are refused', async () => {
    await using fleet = await Fleet.open([]);
    const { client } = fleet.server;
    for (const options of [
      { peer: 'UPPER' },
      { peer: 'x', group: 'a.b' },
      { peer: 'x', weight: 0 },
      { peer: 'x', weight: Number.NaN },
      { peer: 'x', shard: { id: 'a', selector: '((' } },
      { peer: 'x', timings: { leaseMs: 5_000 } },
      { peer: 'x', timings: { marginMs: -1 } },
    ]) {
      assert.throws(() => new ShardCoordinator({ client, ...options }), { code: 'InvalidOptions' });
    }
  });
});
