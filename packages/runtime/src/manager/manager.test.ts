import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '@hangar/client';
import { Lease } from '@hangar/client/kinds/coordination-v1';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { Event } from '@hangar/client/kinds/events-v1';
import { Logger, seededRandom, sleep } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import { startTestCluster } from '@hangar/testkit';
import type { Discovery, Provider } from '../clusters/contract.ts';
import type { ReconcileContext, Request } from '../controller/reconcile.ts';
import { newCluster } from '../new-cluster.ts';
import { Manager } from './manager.ts';
import type { ManagerOptions } from './manager-options.ts';

const leaderElection = { namespace: 'default', name: 'manager' };
const none = { metrics: false, health: false } as const;

interface World extends AsyncDisposable {
  readonly clock: Scheduler;
  readonly client: Client;
  manager(options?: Partial<ManagerOptions>): Manager;
  create(name: string): Promise<ConfigMap>;
}

async function newWorld(): Promise<World> {
  const random = seededRandom(5);
  const clock = new Scheduler(random);
  const cluster = await startTestCluster({ clock, random });
  const { client } = cluster;
  const log = new Logger({ level: 'silent', format: 'text', clock });
  return {
    clock,
    client,
    manager: (options = {}) => new Manager({ client, clock, random, log, ...none, ...options }),
    create: (name) => clock.run(client.create(ConfigMap, { metadata: { namespace: 'default', name } })),
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}

function start(manager: Manager, options?: Parameters<Manager['run']>[1]) {
  const stop = new AbortController();
  const ended = manager.run(stop.signal, options).then(
    () => undefined,
    (error: unknown) => error as Error & { code?: string },
  );
  return { stop, ended };
}

/** Records start and stop. */
const noting = (name: string, notes: string[], endMs = 0, clock?: Scheduler) => ({
  name,
  async start(signal: AbortSignal) {
    notes.push(`${name} begins`);
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    if (clock) await sleep(clock, endMs);
    notes.push(`${name} ended`);
  },
});

test('a controller of one cluster: reconciles what is there and what comes, and ends with nothing left', async () => {
  await using world = await newWorld();
  await world.create('before');
  const manager = world.manager();
  const seen: string[] = [];
  manager.controller({
    name: 'maps',
    for: ConfigMap,
    reconcile: ({ namespace, name }: Request) => {
      if (namespace === 'default') seen.push(name);
    },
  });
  const { stop, ended } = start(manager);
  await world.clock.run(manager.elected);
  await world.clock.advance(1_000);
  await world.create('after');
  await world.clock.advance(1_000);
  assert.deepEqual(
    seen.filter((name) => name !== 'kube-root-ca.crt'),
    ['before', 'after'],
  );
  assert.equal(manager.isLeader, true);
  assert.match(
    manager.registry.text(),
    /controller_runtime_reconcile_total\{controller="maps",result="success"\} [1-9]/,
  );
  stop.abort();
  assert.equal(await world.clock.run(ended), undefined);
  await assert.rejects(manager.run(stop.signal), { code: 'InvalidOptions' });
});

test('what needs leadership begins last and ends first; the lease is released after it', async () => {
  await using world = await newWorld();
  const { clock, client } = world;
  const notes: string[] = [];
  const manager = world.manager({ leaderElection });
  const holder = async () => (await client.get(Lease, leaderElection)).spec?.holderIdentity;
  manager.add(noting('led', notes, 5_000, clock));
  manager.add(noting('other', notes, 0, clock), { needsLeadership: false });
  const { stop, ended } = start(manager);
  await clock.run(manager.elected);
  await clock.advance(100);
  assert.deepEqual(notes, ['other begins', 'led begins']);
  stop.abort();
  await clock.advance(4_000);
  assert.deepEqual(notes, ['other begins', 'led begins']);
  assert.notEqual(await clock.run(holder()), undefined);
  assert.equal(await clock.run(ended), undefined);
  assert.deepEqual(notes.slice(2), ['led ended', 'other ended']);
  assert.equal(await clock.run(holder()), undefined);
});

test('of two managers one works; the other is warm, and takes over as soon as the first has ended', async () => {
  await using world = await newWorld();
  const { clock } = world;
  const work: string[] = [];
  const newOne = (name: string) => {
    const manager = world.manager({ leaderElection });
    manager.controller({
      name: 'maps',
      for: ConfigMap,
      reconcile: async (request: Request, { client }: ReconcileContext) => {
        if (request.namespace !== 'default' || request.name === 'kube-root-ca.crt') return;
        work.push(`${name} ${request.name}`);
        await client.patch(ConfigMap, request, { type: 'merge', body: { data: { by: name } } });
      },
    });
    return { manager, ...start(manager) };
  };
  await world.create('one');
  const first = newOne('first');
  await clock.run(first.manager.elected);
  const second = newOne('second');
  await clock.advance(10_000);
  assert.deepEqual(new Set(work), new Set(['first one']));
  assert.deepEqual([first.manager.isLeader, second.manager.isLeader], [true, false]);
  // Its cache is synced although it does not lead.
  const cached = await clock.run(second.manager.cluster.client.get(ConfigMap, { namespace: 'default', name: 'one' }));
  assert.equal(cached['data']?.['by'], 'first');
  assert.equal((await clock.run(second.manager.answer('/readyz'))).status, 200);
  first.stop.abort();
  assert.equal(await clock.run(first.ended), undefined);
  await clock.advance(5_000);
  assert.equal(second.manager.isLeader, true);
  assert.ok(work.includes('second one'));
  second.stop.abort();
  assert.equal(await clock.run(second.ended), undefined);
});

test('without warm-up, who does not lead watches nothing', async () => {
  await using world = await newWorld();
  const { clock } = world;
  const first = start(world.manager({ leaderElection }));
  await clock.advance(1_000);
  const manager = world.manager({ leaderElection, warmUp: false });
  const seen: string[] = [];
  manager.controller({ name: 'maps', for: ConfigMap, reconcile: ({ name }: Request) => void seen.push(name) });
  const second = start(manager);
  await clock.advance(10_000);
  assert.doesNotMatch(manager.registry.text(), /workqueue_adds_total\{[^}]*\} [1-9]/);
  await world.create('one');
  first.stop.abort();
  await clock.run(first.ended);
  await clock.run(manager.elected);
  await clock.advance(1_000);
  assert.ok(seen.includes('one'));
  second.stop.abort();
  await clock.run(second.ended);
});

test('a lost lease ends the manager with LeadershipLost, and its reconciler can no longer write', async () => {
  await using world = await newWorld();
  const { clock, client } = world;
  const manager = world.manager({ leaderElection });
  const refused: unknown[] = [];
  manager.controller({
    name: 'maps',
    for: ConfigMap,
    reconcile: async (request: Request, context: ReconcileContext) => {
      if (request.name !== 'one') return;
      // Ignores its signal, as a reconciler can.
      await sleep(clock, 4_000);
      await context.client
        .patch(ConfigMap, request, { type: 'merge', body: { data: { late: 'yes' } } })
        .catch((error: unknown) => refused.push(error));
    },
  });
  const { ended } = start(manager);
  await clock.run(manager.elected);
  await clock.advance(500);
  await world.create('one');
  await clock.run(
    client.patch(Lease, leaderElection, { type: 'merge', body: { spec: { holderIdentity: 'usurper' } } }),
  );
  const error = await clock.run(ended);
  assert.equal(error?.code, 'LeadershipLost');
  await clock.advance(10_000);
  assert.deepEqual(
    refused.map((one) => (one as { code?: string }).code),
    ['Fenced'],
  );
  const map = await clock.run(client.get(ConfigMap, { namespace: 'default', name: 'one' }));
  assert.equal(map['data'], undefined);
});

test('a runnable that fails ends everything, and the manager with its error', async () => {
  await using world = await newWorld();
  const notes: string[] = [];
  const manager = world.manager();
  manager.add(noting('led', notes));
  manager.add(async function broken() {
    await sleep(world.clock, 1_000);
    throw new Error('out of order');
  });
  manager.add(() => Promise.resolve());
  const { ended } = start(manager);
  const error = await world.clock.run(ended);
  assert.equal(error?.message, 'out of order');
  assert.deepEqual(notes, ['led begins', 'led ended']);
});

test('one that throws at once, and one that fails while it ends', async () => {
  await using world = await newWorld();
  const throwing = world.manager();
  throwing.add({
    start() {
      throw new Error('at once');
    },
  });
  assert.equal((await world.clock.run(start(throwing).ended))?.message, 'at once');
  const late = world.manager();
  late.add(async (signal) => {
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    throw new Error('while it ended');
  });
  const { stop, ended } = start(late);
  await world.clock.run(late.elected);
  stop.abort();
  assert.equal(await world.clock.run(ended), undefined);
});

test('what does not end in time is named, and its lease is not given to another', async () => {
  await using world = await newWorld();
  const { clock, client } = world;
  const manager = world.manager({ leaderElection, gracefulShutdownTimeoutMs: 3_000 });
  manager.add({ name: 'stubborn', start: () => new Promise(() => {}) });
  const { stop, ended } = start(manager);
  await clock.run(manager.elected);
  const from = clock.monotonicMs();
  stop.abort();
  const error = await clock.run(ended);
  assert.equal(error?.code, 'ShutdownTimedOut');
  assert.match(error!.message, /stubborn/);
  assert.ok(clock.monotonicMs() - from < 6_000);
  assert.notEqual((await clock.run(client.get(Lease, leaderElection))).spec?.holderIdentity, undefined);
});

test('a second wish to end is obeyed at once', async () => {
  await using world = await newWorld();
  const { clock } = world;
  const force = new AbortController();
  const manager = world.manager();
  manager.add({ name: 'stubborn', start: () => new Promise(() => {}) });
  const { stop, ended } = start(manager, { forceSignal: force.signal });
  await clock.run(manager.elected);
  stop.abort();
  await clock.advance(1_000);
  const from = clock.monotonicMs();
  force.abort();
  assert.equal((await clock.run(ended))?.code, 'ShutdownTimedOut');
  assert.ok(clock.monotonicMs() - from < 100);
});

test('an abort at any moment of the beginning ends it in good order', async () => {
  for (let atMs = 0; atMs < 60; atMs += 3) {
    await using world = await newWorld();
    const notes: string[] = [];
    const manager = world.manager({ leaderElection });
    manager.add(noting('led', notes));
    manager.controller({ name: 'maps', for: ConfigMap, reconcile: () => {} });
    const { stop, ended } = start(manager);
    world.clock.after(atMs / 10, () => stop.abort());
    assert.equal(await world.clock.run(ended), undefined, `at ${atMs}`);
    assert.ok(notes.length === 0 || notes.length === 2, notes.join());
    const lease = await world.clock.run(world.client.get(Lease, leaderElection).catch(() => undefined));
    assert.equal(lease?.spec?.holderIdentity, undefined);
  }
});

test('one that was aborted before it began does nothing', async () => {
  await using world = await newWorld();
  const notes: string[] = [];
  const manager = world.manager();
  manager.add(noting('led', notes));
  await world.clock.run(manager.run(AbortSignal.abort()));
  assert.deepEqual(notes, []);
});

test('what is added while the manager runs begins at once; after its end never', async () => {
  await using world = await newWorld();
  const notes: string[] = [];
  const manager = world.manager();
  const { stop, ended } = start(manager);
  await world.clock.run(manager.elected);
  manager.add(noting('late', notes));
  const seen: string[] = [];
  manager.controller({ name: 'maps', for: ConfigMap, reconcile: ({ name }: Request) => void seen.push(name) });
  await world.create('one');
  await world.clock.advance(1_000);
  assert.deepEqual(notes, ['late begins']);
  assert.ok(seen.includes('one'));
  stop.abort();
  await world.clock.run(ended);
  manager.add(noting('too late', notes));
  await world.clock.advance(1_000);
  assert.deepEqual(notes, ['late begins', 'late ended']);
});

test('readiness: filled caches first, checks of the user, and no longer when it ends', async () => {
  await using world = await newWorld();
  const { clock } = world;
  const manager = world.manager();
  manager.addReadyCheck('mine', () => {});
  manager.addHealthCheck('pulse', () => {});
  manager.add(noting('led', [], 5_000, clock));
  const ask = async (target: string) => {
    const { status, body } = await clock.run(manager.answer(target));
    return [status, body];
  };
  assert.equal((await ask('/readyz'))[0], 500);
  const { stop, ended } = start(manager);
  await clock.run(manager.elected);
  const lines = '[+]caches ok\n[+]mine ok\n[+]shutdown ok\nreadyz check passed\n';
  assert.deepEqual(await ask('/readyz?verbose'), [200, lines]);
  assert.deepEqual(await ask('/healthz'), [200, 'ok']);
  assert.deepEqual(await ask('/livez/pulse'), [200, 'ok']);
  assert.match(String((await ask('/metrics'))[1]), /process_resident_memory_bytes \d+/);
  stop.abort();
  await clock.advance(100);
  assert.match(String((await ask('/readyz'))[1]), /\[-\]shutdown failed/);
  assert.equal((await ask('/healthz'))[0], 200);
  await clock.run(ended);
});

test('a kind that cannot be watched delays what needs caches, for so long, and nothing else', async () => {
  await using world = await newWorld();
  const { clock } = world;
  const manager = world.manager({ cacheSyncTimeoutMs: 10_000 });
  const kind = { apiVersion: 'example.org/v1', kind: 'Widget', plural: 'widgets', isNamespaced: true };
  manager.controller({ name: 'widgets', for: kind, reconcile: () => {} });
  const seen: string[] = [];
  manager.controller({ name: 'maps', for: ConfigMap, reconcile: ({ name }: Request) => void seen.push(name) });
  await world.create('one');
  const { stop, ended } = start(manager);
  await clock.advance(9_000);
  assert.equal(seen.length, 0);
  await clock.run(manager.elected);
  await clock.advance(1_000);
  assert.ok(seen.includes('one'));
  assert.equal((await clock.run(manager.answer('/readyz/caches'))).status, 500);
  stop.abort();
  assert.equal(await clock.run(ended), undefined);
});

test('a fleet: controllers work on what the provider finds, by name and by index', async () => {
  await using world = await newWorld();
  await using other = await startTestCluster({ clock: world.clock });
  const { clock } = world;
  await clock.run(other.client.create(ConfigMap, { metadata: { namespace: 'default', name: 'theirs' } }));
  let told: Discovery | undefined;
  const provider: Provider = {
    name: 'one',
    run(discovery, signal) {
      told = discovery;
      const open = () => Promise.resolve(newCluster({ name: 'east', client: other.client, clock }));
      discovery.discovered({ name: 'east', fingerprint: '1', open });
      discovery.synced();
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
    },
  };
  const manager = world.manager({
    clusters: ({ local }) => (assert.equal(local.name, ''), { provider }),
    leaderElection,
  });
  manager.addIndex(ConfigMap, 'initial', ({ metadata }) => [metadata.name![0]!]);
  const seen: string[] = [];
  manager.controller({
    name: 'maps',
    for: ConfigMap,
    reconcile: async ({ cluster, namespace, name }: Request, context: ReconcileContext) => {
      if (namespace !== 'default') return;
      seen.push(`${cluster}/${name}`);
      const marked = await context.client.get(ConfigMap, { namespace, name });
      if (marked['data']) return;
      await context.client.patch(ConfigMap, { namespace, name }, { type: 'merge', body: { data: { seen: 'yes' } } });
    },
  });
  const { stop, ended } = start(manager);
  await clock.run(manager.elected);
  await clock.advance(2_000);
  assert.ok(seen.includes('east/theirs'));
  assert.equal(
    seen.some((one) => one.startsWith('/')),
    false,
  );
  assert.deepEqual([...manager.clusters.names()], ['', 'east']);
  const { cache } = manager.clusters.get('east');
  assert.deepEqual(
    Array.from(cache.informer(ConfigMap).byIndex('initial', 't'), ({ metadata }) => metadata.name),
    ['theirs'],
  );
  assert.equal(manager.clusters.get('').name, '');
  assert.throws(() => manager.clusters.get('west'), { code: 'ClusterNotFound' });
  assert.equal((await clock.run(manager.answer('/readyz/clusters'))).status, 200);
  told!.lost('east');
  await clock.advance(1_000);
  assert.throws(() => manager.clusters.get('east'), { code: 'ClusterNotFound' });
  stop.abort();
  assert.equal(await clock.run(ended), undefined);
});

test('events that wait are written before the manager gives up the right to', async () => {
  await using world = await newWorld();
  const { clock, client } = world;
  const manager = world.manager({ leaderElection });
  assert.equal(manager.recorder('tester'), manager.recorder('tester'));
  manager.controller({
    name: 'maps',
    for: ConfigMap,
    reconcile: async (request: Request, context: ReconcileContext) => {
      if (request.name !== 'one') return;
      const map = await context.client.get(ConfigMap, request);
      await new Promise<void>((resolve) => context.signal.addEventListener('abort', () => resolve()));
      manager.recorder('tester').for(context.cluster).normal(map, 'Ending', 'the last word');
    },
  });
  await world.create('one');
  const { stop, ended } = start(manager);
  await clock.run(manager.elected);
  await clock.advance(1_000);
  stop.abort();
  assert.equal(await clock.run(ended), undefined);
  assert.equal((await clock.run(client.list(Event, { namespace: 'default' }))).items.length, 1);
});

test('without warm-up, a fleet is the matter of the leader alone', async () => {
  await using world = await newWorld();
  const { clock } = world;
  let runs = 0;
  const provider: Provider = {
    name: 'counted',
    run(discovery, signal) {
      runs++;
      discovery.synced();
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
    },
  };
  const managers = [1, 2].map(() => world.manager({ leaderElection, warmUp: false, clusters: { provider } }));
  const running = managers.map((manager) => start(manager));
  await clock.advance(10_000);
  assert.equal(runs, 1);
  for (const manager of managers) assert.equal((await clock.run(manager.answer('/readyz'))).status, 200);
  const leader = managers.findIndex(({ isLeader }) => isLeader);
  running[leader]!.stop.abort();
  await clock.run(running[leader]!.ended);
  await clock.advance(5_000);
  assert.equal(runs, 2);
  running[1 - leader]!.stop.abort();
  assert.equal(await clock.run(running[1 - leader]!.ended), undefined);
});

test('a manager without a cluster is refused', () => {
  assert.throws(() => new Manager({ ...none }), { code: 'InvalidOptions' });
});
