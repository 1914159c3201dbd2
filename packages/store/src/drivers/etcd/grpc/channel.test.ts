import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom, systemClock } from '@hangar/core';
import { GrpcError } from '@hangar/http2/grpc';
import { Channel } from './channel.ts';
import type { Connection } from './connection.ts';
import { parseEndpoint } from './endpoint.ts';
import type { Endpoint } from './endpoint.ts';

/** The parts of a connection that a channel uses. */
class FakeConnection {
  usable = true;
  retired = false;
  retire(): void {
    this.usable = false;
    this.retired = true;
  }
  destroy(): void {
    this.usable = false;
  }
}

const inTenSeconds = () => systemClock.monotonicMs() + 10_000;
const unreachable = (status = 14) => new GrpcError(status, 'cannot be reached', { fate: 'unsent' });

function channelOf(
  count: number,
  open: (host: string) => Promise<FakeConnection>,
): { channel: Channel; tried: string[] } {
  const tried: string[] = [];
  const endpoints = Array.from({ length: count }, (_, place) => parseEndpoint(`http://host-${place}:1`));
  const channel = new Channel({
    endpoints,
    clock: systemClock,
    random: seededRandom(1),
    open: ({ host }: Endpoint) => {
      tried.push(host);
      return open(host) as unknown as Promise<Connection>;
    },
  });
  return { channel, tried };
}

test('those who wait at the same time share one connection', async () => {
  const { channel, tried } = channelOf(3, async () => new FakeConnection());
  const connections = await Promise.all([1, 2, 3].map(() => channel.connected(inTenSeconds())));
  assert.equal(new Set(connections).size, 1);
  assert.equal(tried.length, 1);
  assert.equal(channel.current, connections[0]);
});

test('a server that cannot be reached is passed over', async () => {
  const { channel, tried } = channelOf(3, async (host) => {
    if (host !== 'host-1') throw unreachable();
    return new FakeConnection();
  });
  await channel.connected(inTenSeconds());
  assert.equal(tried.at(-1), 'host-1');
  assert.ok(tried.length <= 3);
});

test('a connection that failed is followed by one to the next server', async () => {
  const { channel, tried } = channelOf(2, async () => new FakeConnection());
  const first = await channel.connected(inTenSeconds());
  channel.failed(first);
  assert.equal(channel.current, undefined);
  const second = await channel.connected(inTenSeconds());
  assert.notEqual(second, first);
  assert.notEqual(tried[0], tried[1]);
  channel.failed(first);
  assert.equal(channel.current, second, 'an old complaint does not touch the new connection');
});

test('a connection that ended by itself is replaced', async () => {
  const { channel } = channelOf(1, async () => new FakeConnection());
  const first = await channel.connected(inTenSeconds());
  (first as unknown as FakeConnection).usable = false;
  assert.notEqual(await channel.connected(inTenSeconds()), first);
});

test('waiting ends at the deadline with the last error', async () => {
  const { channel, tried } = channelOf(2, async () => {
    throw unreachable();
  });
  const startMs = systemClock.monotonicMs();
  await assert.rejects(channel.connected(startMs + 200), { message: 'cannot be reached', fate: 'unsent' });
  assert.ok(systemClock.monotonicMs() - startMs < 5_000);
  assert.ok(tried.length >= 3, 'it tried more than one round');
  assert.ok(tried.length < 50, 'rounds are spaced');
});

test('credentials that are refused are told at once', async () => {
  const { channel } = channelOf(2, async () => {
    throw unreachable(16);
  });
  await assert.rejects(channel.connected(Infinity), { status: 16 });
});

test('closing ends waiting and the connection', async () => {
  const never = new Promise<FakeConnection>(() => {});
  const { channel } = channelOf(1, () => never);
  channel.close();
  await assert.rejects(channel.connected(inTenSeconds()), { fate: 'unsent' });

  const open = channelOf(1, async () => new FakeConnection());
  const connection = await open.channel.connected(inTenSeconds());
  open.channel.close();
  assert.equal(connection.usable, false);
});
