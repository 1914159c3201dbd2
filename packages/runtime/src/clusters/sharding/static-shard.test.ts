import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import { Node } from '@hangar/client/kinds/core-v1';
import { Fleet } from './testing/fleet.ts';
import { ownershipCondition } from './ownership-condition.ts';
import { StaticShard } from './static-shard.ts';

const zones = ['a', 'a', 'a', 'b', 'b', 'b', 'b', 'c'];
const clusters = zones.map((zone, i) => ({ name: `${zone}${i}`, labels: { zone } }));
const shardOf = (id: string) => ({ shard: { id, selector: `zone=${id}` } });

describe('static shards', () => {
  test('each has what its selector matches, shared by its replicas; what none matches is noticed by everybody', async () => {
    await using fleet = await Fleet.open(clusters);
    const told: string[][] = [];
    const onUnowned = (names: readonly string[]): void => void told.push([...names]);
    const a = fleet.start({ peer: 'a-0', ...shardOf('a'), onUnowned });
    const b = [0, 1].map((i) => fleet.start({ peer: `b-${i}`, ...shardOf('b') }));
    await fleet.until(() => a.held.size === 3 && b[0]!.held.size + b[1]!.held.size === 4);
    assert.ok([...a.held.keys()].every((name) => name.startsWith('a')));
    assert.ok(b.every(({ held }) => [...held.keys()].every((name) => name.startsWith('b'))));
    assert.equal(a.metric('unowned_clusters'), 0, 'not before its time');
    await fleet.clock.advance(40_000);
    assert.deepEqual(told, [['c7']]);
    for (const peer of [a, ...b]) assert.equal(peer.metric('unowned_clusters'), 1);
    assert.equal(a.metric('owned_clusters'), 3);
    assert.equal(a.metric('peers'), 3);
    const c = fleet.start({ peer: 'c-0', ...shardOf('c') });
    await fleet.until(() => c.held.size === 1);
    await fleet.clock.advance(10_000);
    assert.deepEqual(told, [['c7'], []]);
  });

  test('when all replicas of a shard are dead its clusters are noticed', async () => {
    await using fleet = await Fleet.open(clusters.filter(({ labels }) => labels.zone !== 'c'));
    const a = fleet.start({ peer: 'a-0', ...shardOf('a') });
    const b = fleet.start({ peer: 'b-0', ...shardOf('b') });
    await fleet.until(() => a.held.size === 3 && b.held.size === 4);
    b.cut();
    await fleet.clock.advance(60_000);
    assert.equal(a.metric('unowned_clusters'), 4);
  });

  test('a cluster that its owner has not discovered is noticed by the others', async () => {
    await using fleet = await Fleet.open(clusters.slice(0, 3));
    const [first, second] = await fleet.startShared(2);
    const names = Array.from({ length: 20 }, (_, i) => `only-the-first-knows-${i}`);
    for (const name of names) first!.follow({ name });
    const missing = names.filter((name) => !first!.held.has(name));
    assert.ok(missing.length > 0);
    await fleet.clock.advance(130_000);
    assert.equal(first!.metric('unowned_clusters'), missing.length);
    for (const name of names) second!.follow({ name });
    await fleet.clock.advance(10_000);
    assert.equal(first!.metric('unowned_clusters'), 0);
  });

  test('a cluster whose labels change moves to the other shard, which lets the first one see that', async () => {
    await using fleet = await Fleet.open(clusters.slice(0, 4));
    const a = fleet.start({ peer: 'a-0', ...shardOf('a') });
    const b = fleet.start({ peer: 'b-0', ...shardOf('b') });
    await fleet.until(() => a.held.has('a0') && b.held.has('b3'));
    const moved = { name: 'a0', labels: { zone: 'b' } };
    for (const peer of [b, a]) {
      peer.unfollow('a0');
      peer.follow(moved);
    }
    assert.equal(a.held.has('a0'), false);
    assert.ok((await fleet.until(() => b.held.has('a0'))) >= 4_900);
  });

  test('labels of no concern take nothing away; others move the cluster without being followed anew', async () => {
    await using fleet = await Fleet.open(clusters.slice(0, 4));
    const a = fleet.start({ peer: 'a-0', ...shardOf('a') });
    const b = fleet.start({ peer: 'b-0', ...shardOf('b') });
    await fleet.until(() => a.held.has('a0') && b.held.has('b3'));
    const ownership = a.held.get('a0');
    for (const { coordinator } of [a, b]) coordinator.changed({ name: 'a0', labels: { zone: 'a', team: 'x' } });
    await fleet.clock.advance(10_000);
    assert.equal(a.held.get('a0'), ownership);
    for (const { coordinator } of [b, a]) coordinator.changed({ name: 'a0', labels: { zone: 'b' } });
    assert.equal(a.held.has('a0'), false);
    assert.ok((await fleet.until(() => b.held.has('a0'))) >= 4_900);
  });

  test('the selector is the label of the shard unless it is said', async () => {
    await using fleet = await Fleet.open([]);
    const { client } = fleet.server;
    assert.throws(() => new StaticShard({ client, peer: 'x', shardId: 'not a label' }), { code: 'InvalidOptions' });
    assert.ok(new StaticShard({ client, peer: 'x', shardId: 'a' }));
  });
});

test('the condition is written where it is not yet, and taken back', async () => {
  await using fleet = await Fleet.open([]);
  const { client } = fleet.server;
  const { clock } = fleet;
  const stop = new AbortController();
  await clock.run(client.create(Node, { metadata: { name: 'one' } }));
  const say = ownershipCondition({ client, kind: Node, keyOf: (name) => ({ name }), signal: stop.signal, clock });
  const shown = async (): Promise<string | undefined> => {
    const { status } = await clock.run(client.get(Node, { name: 'one' }));
    const found = status?.conditions?.find(({ type }) => type === 'ShardOwned');
    return found && `${found.status} ${found.reason}`;
  };
  say(['one', 'without-an-object']);
  await clock.until(async () => (await shown()) === 'False NoOwner');
  say([]);
  await clock.until(async () => (await shown()) === 'True Owned');
  stop.abort();
});
