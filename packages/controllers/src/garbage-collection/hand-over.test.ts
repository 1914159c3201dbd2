/** A control plane that is taken over while objects change: before all objects are delivered, missing objects prove nothing. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { InProcessHandler } from '@hangar/client';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { Logger, pick, seededRandom, systemClock, systemRandom } from '@hangar/core';
import type { Random } from '@hangar/core';
import { startTestFleet } from '@hangar/testkit';
import type { TestFleet } from '@hangar/testkit';
import type { FeedListener, FleetFeed } from '../contract.ts';
import { remoteFeed } from '../remote-feed/remote-feed.ts';
import { Breakable } from '../remote-feed/testing/breakable.ts';
import { isGone, map, namespace, ownedBy, remove } from '../testing/garbage.ts';
import { Recorder } from '../testing/recorder.ts';
import { eventually, runControllers } from '../testing/run-controllers.ts';
import type { RunningControllers } from '../testing/run-controllers.ts';
import { Place } from '../testing/scenarios.ts';
import { GarbageCollector } from './controller.ts';

/** The feed of the fleet with replays that a test holds back. */
class HeldFeed implements FleetFeed {
  readonly #feed: ReturnType<TestFleet['feed']>;
  readonly held: string[] = [];
  /** Receives events before the listener. */
  watcher: Partial<FeedListener> = {};

  constructor(fleet: TestFleet) {
    this.#feed = fleet.feed();
  }

  has(cluster: string): boolean {
    return this.#feed.has(cluster);
  }

  retell(cluster: string): void {
    this.held.push(cluster);
  }

  release(): void {
    for (const cluster of this.held.splice(0)) this.#feed.retell(cluster);
  }

  follow(listener: FeedListener, signal: AbortSignal): Promise<void> {
    const told: FeedListener = {
      wants: (resource) => listener.wants(resource),
      changed: (change) => {
        listener.changed(change);
        this.watcher.changed?.(change);
      },
      synced: () => listener.synced(),
      reset: () => listener.reset(),
      clusterChanged: (cluster, tenant) => listener.clusterChanged(cluster, tenant),
      clusterTold: (cluster) => listener.clusterTold(cluster),
      clusterGone: (cluster) => listener.clusterGone(cluster),
    };
    return this.#feed.follow(told, signal);
  }
}

interface Ground extends RunningControllers {
  readonly feed: HeldFeed;
  readonly place: Place;
  readonly told: readonly string[];
  take(): void;
  /** Resolves when all delivered changes are processed. */
  idle(): Promise<void>;
}

function ground(fleet: TestFleet): Ground {
  const [feed, recorder, own] = [new HeldFeed(fleet), new Recorder(), new Set<string>()];
  const running = runControllers(fleet, {
    feed,
    // The recorder is last: its events were already delivered to the garbage collector.
    controllers: (world) => [new GarbageCollector(world), recorder],
    serves: (cluster) => own.has(cluster),
  });
  return Object.assign(running, {
    feed,
    place: new Place(fleet.clientOf('red'), namespace),
    told: recorder.told,
    take: () => {
      own.add('red');
      running.set.reconsider('red');
    },
    idle: () => eventually(() => running.set.length === 0).then(() => undefined),
  });
}

const log = new Logger({ level: 'silent', format: 'text', clock: systemClock });

describe('what is deleted before all of a control plane was told', () => {
  const cases = {
    Orphan: {
      meanwhile: { owner: 'deleting orphan', child: 'there owner!' },
      after: { owner: 'gone', child: 'there' },
    },
    Foreground: {
      meanwhile: { owner: 'deleting foregroundDeletion', child: 'there owner!' },
      after: { owner: 'gone', child: 'gone' },
    },
    Background: { meanwhile: { owner: 'gone', child: 'there owner!' }, after: { owner: 'gone', child: 'gone' } },
  } as const;
  for (const [propagationPolicy, { meanwhile, after }] of Object.entries(cases)) {
    test(`is seen to when it was, by the rules: ${propagationPolicy}`, async () => {
      await using fleet = await startTestFleet({ clusters: ['red'] });
      const client = fleet.clientOf('red');
      await map(client, 'child', [ownedBy(await map(client, 'owner'), { blocks: true })]);
      await using world = ground(fleet);
      await world.synced;
      world.take();
      assert.deepEqual(world.feed.held, ['red']);
      assert.equal(world.set.isTold('red'), false);
      await remove(client, 'owner', { propagationPolicy: propagationPolicy as keyof typeof cases });
      const last = propagationPolicy === 'Background' ? 'delete' : 'put';
      await eventually(() => world.told.includes(`${last} red/owner`));
      await world.idle();
      assert.deepEqual(await world.place.states('owner', 'child'), meanwhile);
      world.feed.release();
      await eventually(() => world.set.isTold('red'));
      await eventually(async () => assert.deepEqual(await world.place.states('owner', 'child'), after));
    });
  }

  test('is seen to, when it was taken up while everything was told for the first time', async () => {
    await using fleet = await startTestFleet({ clusters: ['red'] });
    const client = fleet.clientOf('red');
    // In order of delivery: the takeover happens between the dependent and its owner.
    await map(client, 'a-child', [ownedBy(await map(client, 'owner'))]);
    await map(client, 'a-kept', [ownedBy(await map(client, 'held'))]);
    await remove(client, 'owner', { propagationPolicy: 'Orphan' });
    await using world = ground(fleet);
    world.feed.watcher = { changed: ({ name }) => name === 'a-kept' && world.take() };
    await world.synced;
    await world.idle();
    assert.equal(world.set.isTold('red'), false);
    assert.deepEqual(await world.place.states('owner', 'a-child'), {
      owner: 'deleting orphan',
      'a-child': 'there owner',
    });
    world.feed.release();
    await eventually(() => isGone(client, ConfigMap, 'owner'));
    await world.idle();
    assert.deepEqual(await world.place.states('a-child', 'a-kept'), { 'a-child': 'there', 'a-kept': 'there held' });
  });
});

test('an owner that was told by an earlier telling, and went before the last one, is not taken for there', () => {
  const asked: string[] = [];
  const ask = ({ name }: { name: string }): void => void asked.push(name);
  const collector = new GarbageCollector({
    clock: systemClock,
    random: systemRandom,
    log,
    clientOf: () => assert.fail('nobody is asked'),
    keysOf: () => assert.fail('nobody is asked'),
  });
  const tell = (type: 'put' | 'delete', name: string, { isInitial = true, owners = [] as string[] } = {}): void => {
    const ownerReferences = owners.map((uid) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: uid, uid }));
    const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name, namespace, uid: name, ownerReferences } };
    const bytes = Buffer.from(JSON.stringify(object));
    const place = { cluster: 'red', group: '', resource: 'configmaps', namespace, name };
    collector.changed({ ...place, type, isInitial, bytes, resourceVersion: '7', object: () => object }, ask);
  };
  collector.synced(ask);
  collector.clusterComing('red');
  for (const name of ['gone', 'there']) tell('put', name);
  tell('delete', 'gone', { isInitial: false });
  tell('put', 'there');
  for (const name of ['gone', 'there']) tell('put', `of-${name}`, { owners: [name] });
  assert.deepEqual(asked, []);
  collector.clusterTold('red', ask);
  assert.deepEqual(asked, ['of-gone']);
});

/** Owners with dependents that come and go, and the expected final state. */
class Families {
  readonly #place: Place;
  readonly #random: Random;
  #count = 0;
  readonly #living: string[] = [];
  /** Expected state by name. */
  readonly expected: Record<string, string> = { keeper: 'there' };
  #keeper!: object;

  constructor(place: Place, random: Random) {
    this.#place = place;
    this.#random = random;
  }

  async begin(): Promise<void> {
    this.#keeper = ownedBy(await this.#place.make('keeper'));
  }

  /** Creates an owner, a dependent that blocks it, one that does not, and one with another owner. */
  async born(): Promise<void> {
    const name = `f${this.#count++}`;
    const owner = await this.#place.make(name);
    await this.#place.make(`${name}-a`, [ownedBy(owner, { blocks: true })]);
    await this.#place.make(`${name}-b`, [ownedBy(owner)]);
    await this.#place.make(`${name}-c`, [ownedBy(owner, { blocks: true }), this.#keeper]);
    const states = { '': '', '-a': ` ${name}!`, '-b': ` ${name}`, '-c': ` ${name}! keeper` };
    for (const [one, owners] of Object.entries(states)) this.expected[name + one] = `there${owners}`;
    this.#living.push(name);
  }

  async gone(): Promise<void> {
    if (this.#living.length === 0) return;
    const [name] = this.#living.splice(this.#random.below(this.#living.length), 1) as [string];
    const policy = pick(this.#random, ['Orphan', 'Foreground', 'Background'] as const);
    await this.#place.remove(name, policy);
    const left = policy === 'Orphan' ? 'there' : 'gone';
    Object.assign(this.expected, { [name]: 'gone', [`${name}-a`]: left, [`${name}-b`]: left });
    this.expected[`${name}-c`] = 'there keeper';
  }
}

for (const seed of [1, 2, 3, 4]) {
  test(`by the rules things go and stay, whoever collects, and whenever it is told of them: seed ${seed}`, async () => {
    await using fleet = await startTestFleet({ clusters: ['red'] });
    const random = seededRandom(seed);
    const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, random.below(12)));
    /** Delays replays. */
    const late: InProcessHandler = async (request) => {
      if (request.method === 'POST' && request.target.endsWith('/feed')) await pause();
      return fleet.handler(request);
    };
    let owner: number | undefined;
    await using replicas = new AsyncDisposableStack();
    const sets = [0, 1].map((replica) => {
      const feed = remoteFeed({ client: new Breakable(late).client, clock: systemClock, random: systemRandom, log });
      const controllers = (world: ConstructorParameters<typeof GarbageCollector>[0]) => [new GarbageCollector(world)];
      return replicas.use(runControllers(fleet, { feed, controllers, serves: () => owner === replica }));
    });
    const handOver = async (next: number | undefined): Promise<void> => {
      const before = owner === undefined ? undefined : sets[owner]!.set;
      owner = undefined;
      before?.reconsider('red');
      await before?.drained('red');
      owner = next;
      if (next !== undefined) sets[next]!.set.reconsider('red');
    };
    const place = new Place(fleet.clientOf('red'), namespace);
    const families = new Families(place, random);
    await families.begin();
    // The first handoffs happen during the initial delivery.
    for (let step = 0; step < 60; step++) {
      const dice = random.below(10);
      if (dice < 3) await families.born();
      else if (dice < 6) await families.gone();
      else if (dice < 9) await handOver(pick(random, [0, 1, undefined]));
      else await pause();
    }
    await handOver(0);
    await Promise.all(sets.map(({ synced }) => synced));
    const { expected } = families;
    await eventually(async () => assert.deepEqual(await place.states(...Object.keys(expected)), expected), {
      withinMs: 20_000,
    });
    await eventually(() => sets[0]!.set.isTold('red') && sets.every(({ set }) => set.length === 0));
    assert.deepEqual(await place.states(...Object.keys(expected)), expected);
  });
}
