import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '@hangar/client';
import { Lease } from '@hangar/client/kinds/coordination-v1';
import { hasCode, seededRandom, sleep } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import { startTestCluster } from '@hangar/testkit';
import type { Ownership } from '../clusters/contract.ts';
import { MetricsRegistry } from '../metrics/registry.ts';
import { newIdentity } from './identity.ts';
import { LeaderElector } from './leader-elector.ts';
import type { LeaderElectorOptions } from './leader-elector.ts';
import type { LeaseClient } from './lease-lock.ts';

const key = { namespace: 'default', name: 'election' };

interface World extends AsyncDisposable {
  readonly clock: Scheduler;
  readonly client: Client;
  elector(options?: Partial<LeaderElectorOptions>): LeaderElector;
  lease(): Promise<Lease>;
  change(spec: object): Promise<unknown>;
}

async function newWorld(): Promise<World> {
  const random = seededRandom(7);
  const clock = new Scheduler(random);
  const cluster = await startTestCluster({ clock, random });
  const { client } = cluster;
  return {
    clock,
    client,
    elector: (options = {}) => new LeaderElector({ client, ...key, clock, random, ...options }),
    lease: () => clock.run(client.get(Lease, key)),
    change: (spec) => clock.run(client.patch(Lease, key, { type: 'merge', body: { spec } })),
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}

interface Running {
  readonly stop: AbortController;
  readonly ended: Promise<unknown>;
  ownership: Ownership | undefined;
}

/** Leads until the signal is aborted, then `drainMs` longer. `ended`: undefined, or the error. */
function run(elector: LeaderElector, clock: Scheduler, drainMs = 0): Running {
  const stop = new AbortController();
  const running: Running = {
    stop,
    ownership: undefined,
    ended: elector
      .run(stop.signal, async (ownership) => {
        running.ownership = ownership;
        await new Promise<void>((resolve) => ownership.signal.addEventListener('abort', () => resolve()));
        await sleep(clock, drainMs);
      })
      .catch((error: unknown) => error),
  };
  return running;
}

test('the first one leads at once, and its lease is what client-go writes', async () => {
  await using world = await newWorld();
  const elector = world.elector({ identity: 'host_1' });
  const running = run(elector, world.clock);
  await world.clock.advance(10);
  assert.equal(elector.isLeader, true);
  assert.equal(elector.leader, 'host_1');
  const { spec } = await world.lease();
  assert.match(spec!.acquireTime!, /^2026-01-01T00:00:00\.\d{6}Z$/);
  assert.deepEqual(spec, {
    holderIdentity: 'host_1',
    leaseDurationSeconds: 15,
    acquireTime: spec!.acquireTime,
    renewTime: spec!.renewTime,
    leaseTransitions: 0,
  });
  await world.clock.advance(60_000);
  const later = await world.lease();
  assert.equal(later.spec!.acquireTime, spec!.acquireTime);
  assert.ok(later.spec!.renewTime! > spec!.renewTime!);
  assert.equal(elector.isLeader, true);
  running.stop.abort();
  assert.equal(await world.clock.run(running.ended), undefined);
});

test('who is asked to end drains first, holding the lease, then releases it: the next one need not wait', async () => {
  await using world = await newWorld();
  const { clock } = world;
  const [first, second] = [world.elector({ identity: 'first' }), world.elector({ identity: 'second' })];
  const leading = run(first, clock, 30_000);
  await clock.advance(100);
  const waiting = run(second, clock);
  await clock.advance(20_000);
  assert.equal(second.isLeader, false);
  leading.stop.abort();
  assert.equal(leading.ownership!.signal.aborted, true);
  await clock.advance(29_000);
  leading.ownership!.check();
  assert.deepEqual([first.isLeader, second.isLeader], [true, false]);
  await clock.run(leading.ended);
  assert.throws(() => leading.ownership!.check(), { code: 'Fenced' });
  const released = (await world.lease()).spec!;
  assert.equal('holderIdentity' in released, false);
  assert.equal(released.leaseDurationSeconds, 1);
  await clock.advance(4_500);
  assert.equal(second.isLeader, true);
  const { leaseTransitions, holderIdentity } = (await world.lease()).spec!;
  assert.deepEqual([holderIdentity, leaseTransitions], ['second', 1]);
  assert.equal(waiting.ownership!.token, 1);
  waiting.stop.abort();
  await clock.run(waiting.ended);
});

test('what says that it has not ended is not released', async () => {
  await using world = await newWorld();
  const ended = world.elector({ identity: 'stuck' }).run(new AbortController().signal, () => Promise.resolve(false));
  await world.clock.run(ended);
  assert.equal((await world.lease()).spec!.holderIdentity, 'stuck');
});

test('releaseOnCancel false leaves the lease to run out', async () => {
  await using world = await newWorld();
  const elector = world.elector({ identity: 'keeps', releaseOnCancel: false });
  await world.clock.run(elector.run(new AbortController().signal, () => Promise.resolve()));
  assert.equal((await world.lease()).spec!.holderIdentity, 'keeps');
});

test('an error of what is led is passed on, and the lease released', async () => {
  await using world = await newWorld();
  const failing = world.elector().run(new AbortController().signal, () => Promise.reject(new Error('broken')));
  await assert.rejects(world.clock.run(failing), /broken/);
  assert.equal((await world.lease()).spec!.holderIdentity, undefined);
});

test('requests that hang: the signal fires at the renew deadline, before anybody else may lead', async () => {
  await using world = await newWorld();
  const { clock, client } = world;
  let isHung = false;
  const hung =
    <A extends unknown[], T>(call: (...args: A) => Promise<T>) =>
    (...args: A): Promise<T> =>
      isHung ? new Promise<never>(() => {}) : call(...args);
  const hanging: LeaseClient = {
    get: hung(client.get.bind(client)) as LeaseClient['get'],
    create: hung(client.create.bind(client)) as LeaseClient['create'],
    update: hung(client.update.bind(client)) as LeaseClient['update'],
  };
  const elector = world.elector({ client: hanging });
  const leading = run(elector, clock);
  await clock.advance(20_000);
  isHung = true;
  let lostAfterMs = 0;
  const from = clock.monotonicMs();
  leading.ownership!.signal.addEventListener('abort', () => (lostAfterMs = clock.monotonicMs() - from));
  const other = world.elector({ identity: 'other' });
  const waiting = run(other, clock);
  await clock.advance(10_500);
  assert.ok(lostAfterMs > 7_000 && lostAfterMs <= 10_000, `${lostAfterMs}`);
  assert.ok(hasCode(await leading.ended, 'LeadershipLost'));
  assert.equal(other.isLeader, false);
  await clock.advance(10_000);
  assert.equal(other.isLeader, true);
  waiting.stop.abort();
  await clock.run(waiting.ended);
});

test('who finds another in its lease stops at once', async () => {
  await using world = await newWorld();
  const leading = run(world.elector(), world.clock);
  await world.clock.advance(100);
  await world.change({ holderIdentity: 'usurper', renewTime: '2026-01-01T00:00:05.000000Z' });
  await world.clock.advance(2_100);
  assert.ok(hasCode(await leading.ended, 'LeadershipLost'));
});

test('a write of somebody else that changes no holder is a conflict, not an error: the leader reads and goes on', async () => {
  await using world = await newWorld();
  const { clock, client } = world;
  const metrics = new MetricsRegistry();
  const elector = world.elector({ metrics });
  const leading = run(elector, clock);
  await clock.advance(100);
  await clock.run(client.patch(Lease, key, { type: 'merge', body: { metadata: { labels: { seen: 'yes' } } } }));
  await clock.advance(30_000);
  assert.equal(elector.isLeader, true);
  assert.match(metrics.text(), /leader_election_slowpath_total\{name="election"\} 1\n/);
  assert.match(metrics.text(), /leader_election_master_status\{name="election"\} 1\n/);
  assert.equal((await world.lease()).metadata.labels?.['seen'], 'yes');
  leading.stop.abort();
  await clock.run(leading.ended);
  assert.match(metrics.text(), /leader_election_master_status\{name="election"\} 0\n/);
});

test('a lease that is deleted is made again by its leader; others wait as if it were there', async () => {
  await using world = await newWorld();
  const { clock, client } = world;
  const [elector, other] = [world.elector({ identity: 'one' }), world.elector({ identity: 'two' })];
  const leading = run(elector, clock);
  await clock.advance(100);
  const waiting = run(other, clock);
  await clock.advance(10_000);
  await clock.run(client.delete(Lease, key));
  await clock.advance(10_000);
  assert.deepEqual([elector.isLeader, other.isLeader], [true, false]);
  for (const { stop, ended } of [leading, waiting]) {
    stop.abort();
    await clock.run(ended);
  }
});

test("another's clock is not asked: a lease whose times are hours ago or ahead is waited for all the same", async () => {
  for (const renewTime of ['2020-01-01T00:00:00.000000Z', '2040-01-01T00:00:00.000000Z']) {
    await using world = await newWorld();
    const { clock, client } = world;
    const spec = { holderIdentity: 'a-go-process', leaseDurationSeconds: 15, acquireTime: renewTime, renewTime };
    await clock.run(client.create(Lease, { metadata: key, spec: { ...spec, leaseTransitions: 4 } }));
    const elector = world.elector();
    const running = run(elector, clock);
    await clock.advance(14_900);
    assert.equal(elector.leader, 'a-go-process');
    assert.equal(elector.isLeader, false);
    await clock.advance(5_000);
    assert.equal(elector.isLeader, true);
    assert.equal((await world.lease()).spec!.leaseTransitions, 5);
    running.stop.abort();
    await clock.run(running.ended);
  }
});

test('the duration that counts is the one that the holder wrote', async () => {
  await using world = await newWorld();
  const { clock, client } = world;
  const spec = { holderIdentity: 'patient', leaseDurationSeconds: 60 };
  await clock.run(client.create(Lease, { metadata: key, spec }));
  const elector = world.elector();
  const running = run(elector, clock);
  await clock.advance(59_000);
  assert.equal(elector.isLeader, false);
  await clock.advance(6_000);
  assert.equal(elector.isLeader, true);
  running.stop.abort();
  await clock.run(running.ended);
});

test('an abort at any moment of a campaign ends it, leaves no timer, and no lease that is held by nobody', async () => {
  for (let atMs = 0; atMs <= 12; atMs++) {
    await using world = await newWorld();
    const { clock, client } = world;
    const slowly =
      <A extends unknown[], T>(call: (...args: A) => Promise<T>) =>
      async (...args: A): Promise<T> => {
        await sleep(clock, 2);
        const answer = await call(...args);
        await sleep(clock, 2);
        return answer;
      };
    const slow: LeaseClient = {
      get: slowly(client.get.bind(client)) as LeaseClient['get'],
      create: slowly(client.create.bind(client)) as LeaseClient['create'],
      update: slowly(client.update.bind(client)) as LeaseClient['update'],
    };
    const elector = world.elector({ client: slow });
    const stop = new AbortController();
    const ended = elector.run(stop.signal, async (ownership) => {
      assert.equal(ownership.signal.aborted, false);
      await new Promise<void>((resolve) => ownership.signal.addEventListener('abort', () => resolve()));
    });
    clock.after(atMs, () => stop.abort());
    await clock.run(ended);
    const lease = await clock.run(client.get(Lease, key).catch(() => undefined));
    assert.equal(lease?.spec?.holderIdentity, undefined, `aborted at ${atMs} ms`);
    assert.equal(elector.isLeader, false);
  }
});

test('a server that refuses is asked again, and leads as soon as it may', async () => {
  await using world = await newWorld();
  const { clock, client } = world;
  let isAllowed = false;
  const refusing: LeaseClient = {
    get: ((...args: Parameters<Client['get']>) =>
      isAllowed ? client.get(...args) : Promise.reject(new Error('not yet'))) as LeaseClient['get'],
    create: client.create.bind(client),
    update: client.update.bind(client),
  };
  const elector = world.elector({ client: refusing });
  const running = run(elector, clock);
  await clock.advance(30_000);
  assert.equal(elector.isLeader, false);
  isAllowed = true;
  await clock.advance(4_500);
  assert.equal(elector.isLeader, true);
  running.stop.abort();
  await clock.run(running.ended);
});

test('everybody is told who leads, once for each change, and one that throws does no harm', async () => {
  await using world = await newWorld();
  const { clock } = world;
  const told: string[] = [];
  const onNewLeader = (identity: string) => {
    told.push(identity);
    throw new Error('bad listener');
  };
  const leading = run(world.elector({ identity: 'first' }), clock);
  await clock.advance(100);
  const waiting = run(world.elector({ identity: 'second', onNewLeader }), clock);
  await clock.advance(10_000);
  leading.stop.abort();
  await clock.run(leading.ended);
  await clock.advance(5_000);
  assert.deepEqual(
    told.filter((one) => one !== ''),
    ['first', 'second'],
  );
  waiting.stop.abort();
  await clock.run(waiting.ended);
});

test('timings that could not be safe are refused', async () => {
  const client = {} as LeaseClient;
  for (const timings of [
    { leaseDurationMs: 10_000 },
    { renewDeadlineMs: 2_000 },
    { retryPeriodMs: 0 },
    { leaseDurationMs: Number.NaN },
  ]) {
    assert.throws(() => new LeaderElector({ client, ...key, ...timings }), { code: 'InvalidOptions' });
  }
});

test('an identity is the host and a UUID, another one each time', () => {
  const identity = newIdentity(seededRandom(1), 'host');
  assert.match(identity, /^host_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.notEqual(newIdentity(), newIdentity());
});
