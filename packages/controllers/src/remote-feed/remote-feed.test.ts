import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { InProcessHandler } from '@hangar/client';
import { ConfigMap, Secret } from '@hangar/client/kinds/core-v1';
import { Logger, seededRandom } from '@hangar/core';
import { startTestFleet, virtualClock } from '@hangar/testkit';
import type { TestFleet, VirtualClock } from '@hangar/testkit';
import type { FleetFeed } from '../contract.ts';
import { remoteFeed } from './remote-feed.ts';
import { Breakable } from './testing/breakable.ts';
import { Knowing } from './testing/knowing.ts';

const feedPath = '/apis/tenancy.hangar.dev/v1alpha1/tenants/*/feed';
const isMap = ({ resource }: { resource: string }): boolean => resource === 'configmaps';
const add = (fleet: TestFleet, cluster: string, name: string): Promise<unknown> =>
  fleet.clientOf(cluster).create(ConfigMap, { metadata: { namespace: 'default', name }, data: { a: 'ü\n' } });

class World implements AsyncDisposable {
  readonly clock: VirtualClock;
  readonly fleet: TestFleet;
  readonly server: Breakable;
  readonly feed: FleetFeed;
  /** Log lines. */
  readonly lines: string[] = [];
  knowing!: Knowing;

  private constructor(clock: VirtualClock, fleet: TestFleet) {
    this.clock = clock;
    this.fleet = fleet;
    const random = seededRandom(1);
    this.server = new Breakable(fleet.handler, { clock, random });
    const log = new Logger({ level: 'warn', format: 'json', clock, write: (line) => void this.lines.push(line) });
    this.feed = remoteFeed({ client: this.server.client, clock, random, log });
  }

  static async open(...clusters: string[]): Promise<World> {
    const clock = virtualClock();
    return new World(clock, await startTestFleet({ clusters, clock }));
  }

  /** Follows the feed until the initial state was delivered, which is not recorded. */
  async follow(): Promise<Knowing> {
    this.knowing = new Knowing(this.feed, isMap);
    await this.clock.until(() => this.knowing.isSynced);
    return this.knowing;
  }

  told(what: string): Promise<void> {
    return this.clock.until(() => this.knowing.told.includes(what));
  }

  /** Number of requests for the feed, or for replays. */
  asked(method: 'GET' | 'POST'): number {
    return this.server.requests.filter((one) => one.startsWith(`${method} ${feedPath}`)).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.knowing?.[Symbol.asyncDispose]();
    assert.equal(this.server.streams, 0, 'no stream is left');
    await this.fleet[Symbol.asyncDispose]();
  }
}

describe('a feed of another process', () => {
  test('tells what is there and what happens, and knows which control planes there are', async () => {
    await using world = await World.open('red', 'blue');
    const { fleet, feed } = world;
    await add(fleet, 'red', 'a');
    assert.equal(feed.has('red'), false);
    const knowing = await world.follow();
    assert.deepEqual(knowing.news(), ['cluster blue', 'cluster red', 'initial put red default/a', 'synced']);
    const names = ['red', 'blue', 'green', 'root'];
    const known = (): string[] => names.filter((name) => feed.has(name));
    assert.deepEqual(known(), ['red', 'blue']);
    await fleet.createCluster('green');
    await add(fleet, 'green', 'b');
    await fleet.clientOf('red').delete(ConfigMap, { namespace: 'default', name: 'a' });
    await fleet.deleteCluster('blue');
    await world.told('gone blue');
    assert.deepEqual(knowing.news(), ['cluster green', 'put green default/b', 'delete red default/a', 'gone blue']);
    assert.deepEqual(known(), ['red', 'green']);
  });

  test('has objects as they are stored, parsed once, with their resourceVersion', async () => {
    await using world = await World.open('red');
    await add(world.fleet, 'red', 'a');
    const stored = await world.fleet.clientOf('red').get(ConfigMap, { namespace: 'default', name: 'a' });
    const [change] = (await world.follow()).changes;
    assert.deepEqual(change!.object(), { ...stored });
    assert.equal(change!.object(), change!.object());
    assert.equal(change!.resourceVersion, stored.metadata.resourceVersion);
    assert.equal((JSON.parse(Buffer.from(change!.bytes).toString()) as ConfigMap).metadata.resourceVersion, undefined);
    const { group, resource, isInitial } = change!;
    assert.deepEqual({ group, resource, isInitial }, { group: '', resource: 'configmaps', isInitial: true });
  });

  test('has no more of a Secret than that it is there', async () => {
    await using world = await World.open('red');
    const metadata = { namespace: 'default', name: 's', annotations: { a: 'hunter2' } };
    await world.fleet.clientOf('red').create(Secret, { metadata, stringData: { password: 'hunter2' } });
    world.knowing = new Knowing(world.feed, ({ resource }) => resource === 'secrets');
    await world.told('initial put red default/s');
    assert.ok(![...world.knowing.known.values()].some((one) => /hunter2|aHVudGVyMg/.test(one)));
    assert.deepEqual(Object.keys(world.knowing.changes[0]!.object()), ['kind', 'apiVersion', 'metadata', 'type']);
  });

  test('is the same, however its bytes are cut', async () => {
    await using world = await World.open('red', 'blue');
    for (const name of ['a', 'b', 'c']) await add(world.fleet, 'red', name);
    const { handler } = world.fleet;
    for (const size of [1, 7, 100]) {
      const cut = new Breakable(inPieces(handler, size), { clock: world.clock });
      const feed = remoteFeed({ ...world, client: cut.client, random: seededRandom(1), log: silent(world.clock) });
      const knowing = new Knowing(feed, isMap);
      await world.clock.until(() => knowing.isSynced);
      assert.deepEqual(knowing.told.slice(0, 3), ['cluster blue', 'cluster red', 'initial put red default/a']);
      assert.deepEqual((knowing.changes[0]!.object() as ConfigMap).data, { a: 'ü\n' });
      await knowing[Symbol.asyncDispose]();
    }
  });

  test('goes on for as long as the server says that it is there', async () => {
    await using world = await World.open('red');
    await world.follow();
    await world.clock.advance(10 * 60_000);
    assert.equal(world.asked('GET'), 1);
    await add(world.fleet, 'red', 'late');
    await world.told('put red default/late');
  });

  test('has one listener at a time', async () => {
    await using world = await World.open('red');
    await world.follow();
    await assert.rejects(() => world.feed.follow(world.knowing, new AbortController().signal), /one listener/);
  });

  test('ends with its signal, whatever it is doing: connecting, reading, waiting to begin anew', async () => {
    const states: Record<string, (world: World) => Promise<unknown>> = {
      connecting: async (world) => {
        world.server.handler = () => new Promise(() => {});
        world.knowing = new Knowing(world.feed);
        await world.clock.settle();
      },
      reading: (world) => world.follow(),
      waiting: async (world) => {
        await world.follow();
        world.server.handler = undefined;
        world.server.cut();
        await world.clock.advance(5_000);
      },
    };
    for (const [state, reach] of Object.entries(states)) {
      await using world = await World.open('red');
      await reach(world);
      const told = world.knowing.told.length;
      await world.knowing[Symbol.asyncDispose]();
      const { length } = world.server.requests;
      await world.clock.advance(120_000);
      assert.equal(world.server.requests.length, length, state);
      assert.equal(world.knowing.told.length, told, state);
    }
  });
});

describe('a stream that breaks', () => {
  for (const how of ['cut', 'end'] as const) {
    test(`is followed by a new one that tells everything, when it was ${how === 'cut' ? 'cut' : 'ended'}`, async () => {
      await using world = await World.open('red', 'blue');
      await add(world.fleet, 'red', 'a');
      const knowing = await world.follow();
      assert.ok(!knowing.news().includes('reset'), 'there was nothing to forget');
      world.server[how]();
      await world.clock.settle();
      assert.equal(world.feed.has('red'), false, 'nothing is known until it is told again');
      await add(world.fleet, 'red', 'meanwhile');
      await world.fleet.deleteCluster('blue');
      await world.told('synced');
      const expected = [
        'reset',
        'cluster red',
        'initial put red default/a',
        'initial put red default/meanwhile',
        'synced',
      ];
      assert.deepEqual(knowing.news(), expected);
      assert.deepEqual([world.feed.has('red'), world.feed.has('blue')], [true, false]);
      assert.match(world.lines.join(''), /resyncing/);
    });
  }

  test('is one that says nothing for thirty seconds, too', async () => {
    await using world = await World.open('red');
    const knowing = await world.follow();
    knowing.news();
    world.server.silence();
    await world.clock.advance(29_000);
    assert.equal(world.asked('GET'), 1);
    await world.clock.advance(2_500);
    assert.equal(world.asked('GET'), 2);
    await world.told('synced');
    assert.deepEqual(knowing.news(), ['reset', 'cluster red', 'synced']);
  });

  test('is not reset before anything was told, however often it could not begin', async () => {
    await using world = await World.open('red');
    world.server.handler = undefined;
    world.knowing = new Knowing(world.feed, isMap);
    await world.clock.advance(10_000);
    world.server.handler = world.fleet.handler;
    await world.told('synced');
    assert.deepEqual(world.knowing.told, ['cluster red', 'synced']);
  });

  test('is tried again less and less often, and once it held, at once', async () => {
    await using world = await World.open('red');
    world.server.handler = undefined;
    world.knowing = new Knowing(world.feed, isMap);
    const triesIn = async (ms: number): Promise<number> => {
      const before = world.asked('GET');
      await world.clock.advance(ms);
      return world.asked('GET') - before;
    };
    assert.ok((await triesIn(10_000)) >= 6);
    await triesIn(60_000);
    const later = await triesIn(300_000);
    assert.ok(later >= 9 && later <= 21, `${later} tries in five minutes`);
    world.server.handler = world.fleet.handler;
    await world.told('synced');
    await world.clock.advance(60_000);
    world.server.cut();
    assert.equal(await triesIn(250), 1);
  });

  test('that breaks again as soon as it has told everything is not begun over and over', async () => {
    await using world = await World.open('red');
    const knowing = await world.follow();
    for (let at = 0; at < 8; at++) {
      world.server.cut();
      await world.clock.until(() => knowing.told.filter((one) => one === 'synced').length > at + 1);
    }
    world.server.cut();
    const before = world.asked('GET');
    await world.clock.advance(5_000);
    assert.equal(world.asked('GET'), before);
  });

  test('is also one whose answer is none: refused, of another type, or with lines that are none', async () => {
    const wrong: Record<string, [Partial<Awaited<ReturnType<InProcessHandler>>>, RegExp]> = {
      refused: [
        { status: 403, body: Buffer.from('{"kind":"Status","reason":"Forbidden","message":"not you"}') },
        /not you/,
      ],
      'refused by a proxy': [{ status: 502, body: Buffer.from('<html>') }, /html/],
      'of another type': [{ headers: { 'content-type': 'text/html' } }, /text\/html/],
      'without hello': [{ body: Buffer.from('{"type":"synced"}\n') }, /no hello/],
      'no JSON': [{ body: Buffer.from('{"type"\n') }, /not valid JSON/],
      'no object': [{ body: Buffer.from('7\n') }, /not an object/],
      'of an unknown kind': [{ body: Buffer.from(`${hello}{"type":"new"}\n`) }, /type \\"new\\"/],
      'without a control plane': [{ body: Buffer.from(`${hello}{"type":"gone"}\n`) }, /without a cluster/],
      'a change without a name': [{ body: Buffer.from(`${hello}{"type":"put","cluster":"a"}\n`) }, /without group/],
    };
    for (const [what, [answer, message]] of Object.entries(wrong)) {
      await using world = await World.open('red');
      const headers = { 'content-type': 'application/x-ndjson' };
      world.server.handler = () => Promise.resolve({ status: 200, headers, body: Buffer.from(hello), ...answer });
      world.knowing = new Knowing(world.feed, isMap);
      await world.clock.advance(1_000);
      assert.match(world.lines.join(''), message, what);
      world.server.handler = world.fleet.handler;
      await world.told('synced');
      assert.deepEqual(
        world.knowing.told.filter((one) => one !== 'reset'),
        ['cluster red', 'synced'],
        what,
      );
    }
  });
});

describe('a control plane that is asked for again', () => {
  test('is told once more; all of one turn are asked for in one request', async () => {
    await using world = await World.open('red', 'blue');
    await add(world.fleet, 'red', 'a');
    const knowing = await world.follow();
    knowing.news();
    for (const name of ['red', 'blue', 'red']) world.feed.retell(name);
    await world.told('told red');
    await world.told('told blue');
    assert.deepEqual(knowing.news().sort(), ['initial put red default/a', 'told blue', 'told red']);
    assert.equal(world.asked('POST'), 1);
    world.feed.retell('red');
    await world.told('told red');
    assert.equal(world.asked('POST'), 2);
    assert.equal(world.asked('GET'), 1);
  });

  test('is told of its end when it was told as it was asked for last, and not before', async () => {
    await using world = await World.open('red');
    await add(world.fleet, 'red', 'a');
    const knowing = await world.follow();
    knowing.news();
    const { handler } = world.fleet;
    const held: (() => void)[] = [];
    world.server.handler = async (request) => {
      if (request.method === 'POST') await new Promise<void>((resolve) => held.push(resolve));
      return handler(request);
    };
    world.feed.retell('red');
    await world.clock.until(() => held.length === 1);
    world.feed.retell('red');
    held[0]!();
    await world.told('initial put red default/a');
    await world.clock.until(() => held.length === 2);
    await world.clock.advance(1_000);
    assert.deepEqual(knowing.news(), ['initial put red default/a'], 'the first answer has no end');
    held[1]!();
    await world.told('told red');
    assert.deepEqual(knowing.news(), ['initial put red default/a', 'told red']);
    // A replay of a recreated control plane completes.
    world.server.handler = handler;
    await world.fleet.deleteCluster('red');
    await world.told('gone red');
    await world.fleet.createCluster('red');
    world.feed.retell('red');
    await world.told('told red');
  });

  test('is told when there is a stream, when there was none yet', async () => {
    await using world = await World.open('red');
    world.feed.retell('red');
    const knowing = await world.follow();
    await world.told('told red');
    assert.deepEqual(knowing.news(), ['cluster red', 'synced', 'told red']);
  });

  for (const status of [404, 403, 500]) {
    test(`is told with everything else, anew, when the server answers ${status}`, async () => {
      await using world = await World.open('red', 'blue');
      await add(world.fleet, 'red', 'a');
      const knowing = await world.follow();
      knowing.news();
      const { handler } = world.fleet;
      const body = Buffer.from(JSON.stringify({ kind: 'Status', message: 'no such session', code: status }));
      world.server.handler = (request) =>
        request.method === 'POST' ? Promise.resolve({ status, headers: {}, body }) : handler(request);
      world.feed.retell('red');
      await world.told('synced');
      const all = ['reset', 'cluster blue', 'cluster red', 'initial put red default/a', 'synced'];
      assert.deepEqual(knowing.news(), all);
      assert.match(world.lines.join(''), /no such session/);
      await world.clock.advance(60_000);
      assert.equal(world.asked('POST'), 1, 'all was told: there is nothing to ask for');
    });
  }
});

const hello = '{"type":"hello","session":"s"}\n';
const silent = (clock: VirtualClock): Logger => new Logger({ level: 'silent', format: 'text', clock });

/** The same responses, in writes of this number of bytes. */
const inPieces =
  (handler: InProcessHandler, size: number): InProcessHandler =>
  async (request) => {
    const answer = await handler(request);
    const { body } = answer;
    if (!('start' in body)) return answer;
    return {
      ...answer,
      body: {
        start: (sink) =>
          body.start({
            write: (chunk) => {
              for (let at = 0; at < chunk.length; at += size) sink.write(chunk.slice(at, at + size));
              return true;
            },
            end: () => sink.end(),
            abort: () => sink.abort(),
            onDrain: (callback) => sink.onDrain(callback),
            onClose: (callback) => sink.onClose(callback),
          }),
      },
    };
  };
