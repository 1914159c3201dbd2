import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusError } from '@hangar/api';
import { ClientError } from '@hangar/client';
import type { Client } from '@hangar/client';
import { ConfigMap, Event as CoreEvent, Namespace } from '@hangar/client/kinds/core-v1';
import { Event } from '@hangar/client/kinds/events-v1';
import { seededRandom } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import { startTestCluster } from '@hangar/testkit';
import { MetricsRegistry } from '../metrics/registry.ts';
import { EventRecorder } from './event-recorder.ts';
import type { EventRecorderOptions } from './event-recorder.ts';

const minute = 60_000;

interface World extends AsyncDisposable {
  readonly clock: Scheduler;
  readonly client: Client;
  readonly map: ConfigMap;
  readonly metrics: MetricsRegistry;
  recorder(options?: Partial<EventRecorderOptions>): EventRecorder;
  events(): Promise<Event[]>;
  dropped(reason: string): number;
}

async function newWorld(): Promise<World> {
  const random = seededRandom(3);
  const clock = new Scheduler(random);
  const cluster = await startTestCluster({ clock, random });
  const { client } = cluster;
  const metrics = new MetricsRegistry();
  const map = await clock.run(client.create(ConfigMap, { metadata: { namespace: 'default', name: 'one' } }));
  return {
    clock,
    client,
    map,
    metrics,
    recorder: (options = {}) => new EventRecorder({ component: 'tester', clock, random, metrics, ...options }),
    events: async () => (await clock.run(client.list(Event, { namespace: 'default' }))).items,
    dropped(reason) {
      const line = `event_recorder_dropped_total{component="tester",reason="${reason}"} `;
      return Number(metrics.text().split(line)[1]?.split('\n')[0] ?? 0);
    },
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}

/** A client that calls a function of the test before each write. */
const disturbed = (client: Client, before: (verb: 'create' | 'patch') => Promise<void> | void) => ({
  client: {
    ...client,
    create: async (...args: Parameters<Client['create']>) => {
      await before('create');
      return client.create(...args);
    },
    patch: async (...args: Parameters<Client['patch']>) => {
      await before('patch');
      return client.patch(...args);
    },
  } as Client,
});

test('an event is what Kubernetes writes, and is shown by core/v1 as well', async () => {
  await using world = await newWorld();
  const { clock, client, map } = world;
  world.recorder({ instance: 'tester-1' }).for({ client }).warning(map, 'Broken', 'it does not work');
  await clock.advance(10);
  const [event] = await world.events();
  assert.match(event!.metadata.name!, /^one\.[0-9a-f]{14,16}$/);
  assert.match(event!.eventTime, /^2026-01-01T00:00:0\d\.\d{6}Z$/);
  assert.equal(event!.reportingController, 'tester');
  assert.equal(event!.reportingInstance, 'tester-1');
  assert.equal(event!.type, 'Warning');
  assert.equal(event!.action, 'Broken');
  assert.equal(event!.series, undefined);
  assert.equal(event!.regarding!.uid, map.metadata.uid);
  const [core] = (await clock.run(client.list(CoreEvent, { namespace: 'default' }))).items;
  assert.equal(core!.message, 'it does not work');
  assert.equal(core!.involvedObject.name, 'one');
});

test('the same again within six minutes is one event with a count, also when the words or the object changed', async () => {
  await using world = await newWorld();
  const { clock, client, map } = world;
  const events = world.recorder().for({ client });
  events.normal(map, 'Repeated', 'first');
  await clock.advance(1_000);
  events.normal({ ...map, metadata: { ...map.metadata, resourceVersion: '99' } }, 'Repeated', 'second');
  await clock.advance(5 * minute);
  events.normal(map, 'Repeated', 'third');
  await clock.advance(10);
  const found = await world.events();
  assert.equal(found.length, 1);
  assert.equal(found[0]!.note, 'first');
  assert.equal(found[0]!.series!.count, 3);
  assert.match(found[0]!.series!.lastObservedTime, /^2026-01-01T00:05:01\.\d{6}Z$/);
  await clock.advance(7 * minute);
  events.normal(map, 'Repeated', 'much later');
  events.normal(map, 'Another', 'reason');
  events.event(map, { reason: 'Another', action: 'Doing', note: 'another action' });
  events.warning(map, 'Another', 'type');
  await clock.advance(10);
  assert.equal((await world.events()).length, 5);
});

test('what happens while the first write is under way is in it or in the one after it', async () => {
  await using world = await newWorld();
  const { clock, map } = world;
  const writes: string[] = [];
  const slow = disturbed(world.client, async (verb) => {
    writes.push(verb);
    await new Promise<void>((resolve) => clock.after(1_000, resolve));
  });
  const events = world.recorder().for(slow);
  for (let i = 0; i < 10; i++) events.normal(map, 'Quick', 'again');
  await clock.advance(10_000);
  assert.equal((await world.events())[0]!.series!.count, 10);
  assert.ok(writes.length <= 2, writes.join());
});

test('25 about one object, then one in five minutes; of a series nothing is lost', async () => {
  await using world = await newWorld();
  const { clock, client, map } = world;
  const events = world.recorder().for({ client });
  for (let i = 0; i < 40; i++) {
    events.normal(map, `Reason${i}`, 'many');
    await clock.advance(10);
  }
  assert.equal((await world.events()).length, 25);
  assert.equal(world.dropped('rate_limited'), 15);
  events.warning(map, 'Warned', 'warnings are counted apart');
  const other = { ...map, metadata: { ...map.metadata, name: 'other', uid: 'other' } };
  events.normal(other, 'Fine', 'and so are other objects');
  await clock.advance(10);
  assert.equal((await world.events()).length, 27);
  // Counted while writes are forbidden, and written afterwards.
  for (let i = 0; i < 10; i++) events.normal(map, 'Reason0', 'many');
  await clock.advance(10);
  const series = async () => (await world.events()).find(({ reason }) => reason === 'Reason0')!.series;
  assert.equal(await series(), undefined);
  await clock.advance(8 * minute);
  assert.equal((await series())!.count, 11);
  events.normal(map, 'AfterFive', 'there is room for one again');
  await clock.advance(10);
  assert.equal((await world.events()).filter(({ reason }) => reason === 'AfterFive').length, 1);
});

test('an event that the server has forgotten is made again, with its count', async () => {
  await using world = await newWorld();
  const { clock, client, map } = world;
  const events = world.recorder().for({ client });
  events.normal(map, 'Kept', 'first');
  await clock.advance(10);
  const [event] = await world.events();
  await clock.run(client.delete(Event, { namespace: 'default', name: event!.metadata.name! }));
  events.normal(map, 'Kept', 'second');
  await clock.advance(10);
  assert.equal((await world.events())[0]!.series!.count, 2);
});

test('connections that break are tried again; an answer that was lost makes no second event', async () => {
  await using world = await newWorld();
  const { clock, client, map } = world;
  let failures = 3;
  const flaky = {
    client: {
      ...client,
      create: async (...args: Parameters<Client['create']>) => {
        const made = await client.create(...args);
        if (failures-- > 0) throw new ClientError('ConnectionLost', 'no answer');
        return made;
      },
    } as Client,
  };
  world.recorder().for(flaky).normal(map, 'Lost', 'and found');
  await clock.advance(minute);
  assert.equal((await world.events()).length, 1);
  assert.equal(world.dropped('failed'), 0);
});

test('a refusal is not tried again, whatever it was; the next event is', async () => {
  await using world = await newWorld();
  const { clock, client, map } = world;
  let isRefused = true;
  const refused = disturbed(client, () => {
    if (isRefused) throw new StatusError('Forbidden', 'no');
  });
  const events = world.recorder().for(refused);
  events.normal(map, 'Refused', 'no');
  await clock.advance(minute);
  assert.equal(world.dropped('failed'), 1);
  isRefused = false;
  events.normal(map, 'Allowed', 'yes');
  await clock.advance(10);
  assert.equal((await world.events()).length, 1);
});

test('a cluster that hangs loses its own events, bounded, and delays nobody', async () => {
  await using world = await newWorld();
  const { clock, client, map } = world;
  const hung = disturbed(client, () => new Promise<void>(() => {}));
  const recorder = world.recorder({ queueLengthMax: 10 });
  const objects = Array.from({ length: 50 }, (_, i) => ({
    ...map,
    metadata: { ...map.metadata, name: `n${i}`, uid: `u${i}` },
  }));
  for (const object of objects) recorder.for(hung).normal(object, 'Hung', 'x');
  assert.equal(world.dropped('queue_full'), 39);
  recorder.for({ client }).normal(map, 'Well', 'x');
  await clock.advance(10);
  assert.equal((await world.events()).length, 1);
  // Twelve attempts of ten seconds each, with ten seconds between: then the next one.
  await clock.advance(5 * minute);
  assert.equal(world.dropped('failed'), 1);
  const closing = recorder.close(1_000);
  const from = clock.monotonicMs();
  await clock.run(closing);
  assert.ok(clock.monotonicMs() - from <= 1_001);
});

test('all clusters together have a bound, too', async () => {
  await using world = await newWorld();
  const { clock, client, map } = world;
  const recorder = world.recorder({ queueLengthTotalMax: 5 });
  const hung = () => disturbed(client, () => new Promise<void>(() => {}));
  const clusters = Array.from({ length: 10 }, hung);
  for (const cluster of clusters) {
    recorder.for(cluster).normal(map, 'One', 'under way');
    recorder.for(cluster).normal(map, 'Two', 'waits');
  }
  await clock.advance(1);
  assert.equal(world.dropped('queue_full'), 10 + 10 - 5 - 5);
  await clock.run(recorder.close(10));
});

test('close writes what waits, counts of series above all, and takes nothing more', async () => {
  await using world = await newWorld();
  const { clock, client, map } = world;
  const recorder = world.recorder();
  const events = recorder.for({ client });
  for (let i = 0; i < 30; i++) {
    events.normal(map, 'Often', 'x');
    await clock.advance(100);
  }
  assert.equal((await world.events())[0]!.series!.count, 25);
  events.warning(map, 'Last', 'words');
  await clock.run(recorder.close());
  const found = await world.events();
  assert.deepEqual(found.map(({ reason, series }) => [reason, series?.count]).sort(), [
    ['Last', undefined],
    ['Often', 30],
  ]);
  events.normal(map, 'Too', 'late');
  recorder.for({ client }).normal(map, 'Too', 'late');
  await clock.advance(10);
  assert.equal((await world.events()).length, 2);
  assert.equal(world.dropped('closed'), 2);
});

test('close does not write an event again whose write is under way', async () => {
  await using world = await newWorld();
  const { clock, client, map } = world;
  const recorder = world.recorder();
  const verbs: string[] = [];
  const begun = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const slow = disturbed(client, async (verb) => {
    verbs.push(verb);
    begun.resolve();
    await goOn.promise;
  });
  recorder.for(slow).normal(map, 'Once', 'x');
  await clock.run(begun.promise);
  const closing = recorder.close();
  goOn.resolve();
  await clock.run(closing);
  assert.deepEqual(verbs, ['create']);
  assert.equal(world.dropped('failed'), 0);
});

test('what is too long is cut at a character, what is no object is dropped, nothing throws', async () => {
  await using world = await newWorld();
  const { clock, client, map } = world;
  const events = world.recorder().for({ client });
  events.normal(map, 'R'.repeat(300), 'ä€😀'.repeat(100_000));
  events.normal({ apiVersion: 'v1', kind: 'ConfigMap', metadata: {} }, 'Nameless', 'x');
  events.normal(map, '', 'without a reason');
  events.normal(undefined as never, 'Nothing', 'x');
  events.event(map, { reason: undefined as never, note: undefined as never });
  await clock.advance(10);
  const found = await world.events();
  assert.equal(found.length, 1);
  const { note, reason } = found[0]!;
  assert.ok(Buffer.byteLength(note!) <= 1024 && Buffer.byteLength(note!) > 1000);
  assert.equal(note!.includes('\uFFFD'), false);
  assert.ok(note!.endsWith('...'));
  assert.equal(Buffer.byteLength(reason!), 128);
  assert.equal(world.dropped('invalid'), 4);
});

test('objects without a namespace, and with names that events may not have', async () => {
  await using world = await newWorld();
  const { clock, client } = world;
  const events = world.recorder().for({ client });
  const space = await clock.run(client.get(Namespace, { name: 'default' }));
  events.normal(space, 'Seen', 'x');
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'system:Node' } };
  events.normal(role, 'Seen', 'x');
  events.normal({ ...role, metadata: { name: 'a'.repeat(253) } }, 'Seen', 'x');
  await clock.advance(10);
  assert.equal((await world.events()).length, 3);
  assert.equal(world.dropped('failed'), 0);
});

test('core/v1: counted the same way, with the words of the last one', async () => {
  await using world = await newWorld();
  const { clock, client, map } = world;
  const events = world.recorder({ api: 'v1' }).for({ client });
  events.normal(map, 'Counted', 'first');
  await clock.advance(2_000);
  events.normal(map, 'Counted', 'second');
  await clock.advance(10);
  const found = (await clock.run(client.list(CoreEvent, { namespace: 'default' }))).items;
  assert.equal(found.length, 1);
  assert.deepEqual([found[0]!.count, found[0]!.message], [2, 'second']);
  assert.equal(found[0]!.source?.component, 'tester');
  assert.ok(found[0]!.lastTimestamp! > found[0]!.firstTimestamp!);
});

test('a component that servers would refuse is refused at once', () => {
  assert.throws(() => new EventRecorder({ component: 'not a name' }), { code: 'InvalidOptions' });
});

test('what was forgotten leaves no timer: a cluster that is silent costs nothing', async () => {
  await using world = await newWorld();
  const { clock, client, map } = world;
  let timers = 0;
  const counting = {
    now: () => clock.now(),
    monotonicMs: () => clock.monotonicMs(),
    soon: (callback: () => void) => clock.soon(callback),
    after(delayMs: number, callback: () => void) {
      timers++;
      const fired = () => {
        timers--;
        callback();
      };
      const timer = clock.after(delayMs, fired);
      let isOver = false;
      return {
        cancel() {
          if (!isOver) timers--;
          isOver = true;
          timer.cancel();
        },
      };
    },
  };
  const events = world.recorder({ clock: counting }).for({ client });
  events.normal(map, 'Once', 'x');
  await clock.advance(10);
  assert.ok(timers > 0);
  await clock.advance(60 * minute);
  assert.equal(timers, 0);
});
