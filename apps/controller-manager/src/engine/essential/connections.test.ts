import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HttpTransport } from '@hangar/client';
import { hasCode } from '@hangar/core';
import { virtualClock } from '@hangar/testkit';
import { Connections, connectionsMax } from './connections.ts';
import type { Target } from './connections.ts';
import { kubeconfigOf } from './testing/ground.ts';

interface Opened {
  readonly server: string;
  isClosed: boolean;
}

function subject() {
  const clock = virtualClock();
  const opened: Opened[] = [];
  const texts = new Map<string, string>();
  const world = { failure: undefined as Error | undefined, hangs: false };
  const connections = new Connections({
    clock,
    kubeconfigs: {
      read({ name }) {
        if (world.failure) return Promise.reject(world.failure);
        if (world.hangs) return new Promise(() => undefined);
        return Promise.resolve(texts.get(name) ?? kubeconfigOf(name, 'first'));
      },
    },
    connect({ server }) {
      const one: Opened = { server, isClosed: false };
      opened.push(one);
      return { close: async () => void (one.isClosed = true) } as HttpTransport;
    },
  });
  let closed = 0;
  const target = (name: string): Target => ({
    cluster: { secret: { namespace: 'kplane', name }, address: undefined },
    onClosed: () => void closed++,
  });
  return { clock, opened, texts, world, connections, target, closed: () => closed };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('one is shared by all that ask, and closed when nobody did for half a minute', async () => {
  const { clock, connections, target, opened, closed } = subject();
  const red = target('red');
  const [one, other] = await Promise.all([connections.take(red, undefined), connections.take(red, undefined)]);
  assert.equal(one.connection, other.connection);
  one.release();
  one.release();
  await clock.advance(61_000);
  assert.equal(connections.size, 1, 'it is in use');
  other.release();
  await clock.advance(61_000);
  assert.deepEqual([connections.size, opened[0]!.isClosed, closed()], [0, true, 1]);
});

test('there are so many at a time: an idle one makes room, and who finds none waits', async () => {
  const { connections, target, opened } = subject();
  const targets = Array.from({ length: connectionsMax }, (_, at) => target(`c${at}`));
  const leases = await Promise.all(targets.map((one) => connections.take(one, undefined)));
  leases[3]!.release();
  const room = await connections.take(target('room'), undefined);
  assert.equal(connections.size, connectionsMax);
  assert.ok(opened.find(({ server }) => server.includes('/c3/'))!.isClosed);
  let isThere = false;
  const waiting = connections.take(target('waits'), undefined).then((lease) => {
    isThere = true;
    return lease;
  });
  const given = new AbortController();
  const leaves = assert.rejects(connections.take(target('leaves'), given.signal), (error) => hasCode(error, 'Aborted'));
  given.abort();
  await leaves;
  assert.ok(!isThere);
  room.release();
  await waiting;
  assert.equal(connections.size, connectionsMax);
});

test('what cannot be opened is tried anew by the next one', async () => {
  const { clock, connections, target, world } = subject();
  const red = target('red');
  world.failure = new Error('forbidden by the test');
  await assert.rejects(connections.take(red, undefined), (error) => hasCode(error, 'KubeconfigUnreadable'));
  assert.equal(connections.size, 0);
  world.failure = undefined;
  world.hangs = true;
  const late = assert.rejects(connections.take(red, undefined), /does not answer/);
  await clock.advance(10_100);
  await late;
  world.hangs = false;
  (await connections.take(red, undefined)).release();
});

test('refused credentials: the Secret is read anew, once for all that were refused', async () => {
  const { connections, target, texts } = subject();
  const red = target('red');
  const lease = await connections.take(red, undefined);
  assert.equal(await connections.renewed(red, lease.connection, undefined), false, 'it says the same');
  texts.set('red', kubeconfigOf('red', 'second'));
  assert.equal(await connections.renewed(red, lease.connection, undefined), true);
  const next = await connections.take(red, undefined);
  assert.notEqual(next.connection, lease.connection);
  assert.equal(await connections.renewed(red, lease.connection, undefined), true, 'somebody else has');
});

test('many that are refused at the same time open one connection, and none is left', async () => {
  const { connections, target, texts, opened } = subject();
  const red = target('red');
  const lease = await connections.take(red, undefined);
  texts.set('red', kubeconfigOf('red', 'second'));
  const all = await Promise.all(Array.from({ length: 8 }, () => connections.renewed(red, lease.connection, undefined)));
  assert.deepEqual([new Set(all), opened.length], [new Set([true]), 2]);
  assert.ok(!opened[0]!.isClosed, 'it is in use');
  lease.release();
  const renewing = connections.renewed(red, (await connections.take(red, undefined)).connection, undefined);
  connections.drop(red);
  assert.equal(await renewing, true);
  await settled();
  assert.deepEqual(
    opened.filter(({ isClosed }) => !isClosed),
    [],
  );
});

test('what the Secret says is used within a minute, and what is under way comes to its end', async () => {
  const { clock, connections, target, texts, opened } = subject();
  const red = target('red');
  const long = await connections.take(red, undefined);
  const atWork = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second += 10) {
      await clock.advance(10_000);
      (await connections.take(red, undefined)).release();
    }
  };
  await atWork(120);
  const alike = opened.filter(({ isClosed }) => !isClosed);
  assert.deepEqual(alike, [opened[0]], 'it says the same: nothing is another');
  texts.set('red', kubeconfigOf('red', 'second'));
  await atWork(60);
  const next = await connections.take(red, undefined);
  assert.notEqual(next.connection, long.connection);
  assert.ok(!opened[0]!.isClosed, 'somebody uses it');
  long.release();
  await settled();
  assert.ok(opened[0]!.isClosed);
  assert.equal(opened.filter(({ isClosed }) => !isClosed).length, 1);
});

test('a Secret that cannot be read, or is gone, changes nothing for what is open', async () => {
  const { clock, connections, target, world, opened } = subject();
  const red = target('red');
  const lease = await connections.take(red, undefined);
  world.failure = new Error('away, says the test');
  await clock.advance(61_000);
  const next = await connections.take(red, undefined);
  assert.deepEqual([next.connection, opened.length], [lease.connection, 1]);
});

test('who forgets to let go does not keep its place for ever', async () => {
  const { clock, connections, target, texts, opened } = subject();
  await connections.take(target('red'), undefined);
  await clock.advance(151_000);
  assert.equal(connections.size, 0);
  const red = target('red');
  const { connection } = await connections.take(red, undefined);
  texts.set('red', kubeconfigOf('red', 'second'));
  assert.ok(await connections.renewed(red, connection, undefined));
  await clock.advance(151_000);
  assert.deepEqual(
    opened.filter(({ isClosed }) => !isClosed),
    [],
    'nor a connection that was replaced',
  );
});
