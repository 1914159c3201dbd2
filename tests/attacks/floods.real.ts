/**
 * Clients that make the server work, wait or remember more than they do themselves: floods of HTTP/2 frames, and connections that never
 * complete a request. The server disconnects each, and serves others during the attack. The bounds themselves are tested beside the code,
 * with a clock that tests control; here they meet TLS, the real clock and a whole server.
 */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import {
  block,
  data,
  errorCode,
  flag,
  frame,
  frameType,
  headers,
  hello,
  number32,
  RawFrames,
  reset,
} from './testing/raw-frames.ts';
import type { Pairs } from './testing/raw-frames.ts';
import { Victim, mine, tenantToken } from './testing/victim.ts';

let victim: Victim;
before(async () => void (victim = await Victim.start()));
after(() => victim[Symbol.asyncDispose]());

const asked = (method: string, path: string): Pairs => [
  [':method', method],
  [':scheme', 'https'],
  [':path', path],
  [':authority', 'x'],
  ['authorization', `Bearer ${tenantToken}`],
];
const get = asked('GET', `${mine}/configmaps`);
const post = asked('POST', `${mine}/configmaps`);
const watch = asked('GET', `${mine}/configmaps?watch=true`);
const many = (count: number, make: (at: number) => Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, at) => make(at)));

const open = async (): Promise<RawFrames> => RawFrames.open(await victim.tenant.socket('h2'));

const othersAreServed = async (): Promise<void> => {
  await victim.tenant.get(`${mine}/configmaps/trinket`);
  assert.equal((await victim.tenant.request2('GET', `${mine}/configmaps/trinket`)).status, 200);
};

describe('HTTP/2: a connection is left that', () => {
  const calm = errorCode.enhanceYourCalm;
  const cases: Readonly<Record<string, [code: number, piece: (round: number) => Buffer]>> = {
    'opens streams and resets them at once (CVE-2023-44487)': [
      calm,
      (round) =>
        many(100, (at) => Buffer.concat([headers(200 * round + 2 * at + 1, get), reset(200 * round + 2 * at + 1)])),
    ],
    'opens watches and resets them at once': [
      calm,
      (round) =>
        many(100, (at) => Buffer.concat([headers(200 * round + 2 * at + 1, watch), reset(200 * round + 2 * at + 1)])),
    ],
    'makes the server reset streams (CVE-2025-8671)': [
      calm,
      (round) =>
        many(100, (at) => {
          const id = 200 * round + 2 * at + 1;
          return Buffer.concat([headers(id, post, flag.endHeaders), frame(frameType.windowUpdate, 0, id, number32(0))]);
        }),
    ],
    'sends headers that do not end (CVE-2024-27316)': [
      calm,
      (round) =>
        Buffer.concat([
          round === 0 ? headers(1, get, flag.endStream) : Buffer.alloc(0),
          many(20, () => frame(frameType.continuation, 0, 1, block([['x-a', 'b'.repeat(4_000)]]))),
        ]),
    ],
    'sends PINGs': [calm, () => many(200, () => frame(frameType.ping, 0, 0, Buffer.alloc(8)))],
    'sends SETTINGS': [calm, () => many(200, () => frame(frameType.settings, 0, 0, Buffer.alloc(0)))],
    'sends PRIORITY': [calm, () => many(200, () => frame(frameType.priority, 0, 1, Buffer.from([0, 0, 0, 3, 9])))],
    'sends DATA without data': [
      calm,
      (round) =>
        Buffer.concat([
          round === 0 ? headers(1, post, flag.endHeaders) : Buffer.alloc(0),
          many(200, () => data(1, '')),
        ]),
    ],
    'sends unknown frames': [calm, () => many(200, () => frame(0x99, 0, 0, Buffer.alloc(0)))],
    'opens windows beyond what a window can be': [
      errorCode.flowControl,
      () => many(3, () => frame(frameType.windowUpdate, 0, 0, number32(2 ** 31 - 1))),
    ],
  };
  for (const [name, [code, piece]] of Object.entries(cases)) {
    test(name, async () => {
      await using client = await open();
      client.send(hello);
      for (let round = 0; round < 100 && !client.isClosed; round++) {
        client.send(piece(round));
        await new Promise((resolve) => setImmediate(resolve));
      }
      assert.equal(await client.ended(), code);
      await othersAreServed();
    });
  }
});

describe('HTTP/2: a request costs no more than it may', () => {
  test('headers that refer to a large one again and again are refused (HPACK bomb)', async () => {
    await using client = await open();
    const kept = Buffer.concat([Buffer.from([0x40]), block([['x-kept', 'y'.repeat(4_000)]]).subarray(1)]);
    client.send(hello, frame(frameType.headers, 5, 1, Buffer.concat([block(get), kept, Buffer.alloc(200, 0xbe)])));
    assert.equal(await client.outcome(1), '431');
    client.send(headers(3, get));
    assert.equal(await client.outcome(3), '200');
  });

  test('responses without a window are not produced, and do not delay others', async () => {
    for (let at = 0; at < 20; at++) {
      const big = { metadata: { name: `big-${at}` }, data: { text: 'x'.repeat(100_000) } };
      await victim.administrator.create(`${mine}/configmaps`, big);
    }
    await using client = await open();
    const noWindow = frame(frameType.settings, 0, 0, Buffer.from([0, 4, 0, 0, 0, 0]));
    globalThis.gc?.();
    const beforeBytes = process.memoryUsage().rss;
    // 100 lists of two megabytes each, none of which is read.
    client.send(
      hello,
      noWindow,
      many(100, (at) => headers(2 * at + 1, get)),
    );
    // A connection holds 96 MiB of answers.
    const outcomes: (string | undefined)[] = [];
    for (let at = 0; at < 100; at++) outcomes.push(await client.outcome(2 * at + 1));
    const held = outcomes.filter((outcome) => outcome === '200').length;
    assert.ok(held > 40 && held < 60, `${held} answers`);
    assert.deepEqual(new Set(outcomes), new Set(['200', '429']));
    await othersAreServed();
    const grown = process.memoryUsage().rss - beforeBytes;
    assert.ok(grown < 150_000_000, `${grown} bytes more, where all answers together have 200 MB`);
    for (let at = 0; at < 20; at++) await victim.administrator.expect(200, 'DELETE', `${mine}/configmaps/big-${at}`);
  });

  test('streams beyond those that are allowed at once are refused, and those before them go on', async () => {
    await using client = await open();
    client.send(
      hello,
      many(260, (at) => headers(2 * at + 1, watch)),
    );
    assert.equal(await client.outcome(519), 'reset');
    assert.equal(await client.outcome(1), '200');
    await othersAreServed();
  });
});

test('watches that are not read cost reads, not memory: missed events are kept once', async () => {
  const sockets = await Promise.all(Array.from({ length: 100 }, () => victim.tenant.socket()));
  try {
    for (const socket of sockets) {
      socket.write(`GET ${mine}/configmaps?watch=true HTTP/1.1\r\nHost: x\r\n${victim.tenant.credentials}\r\n`);
    }
    await Promise.all(sockets.map((socket) => once(socket, 'data')));
    for (const socket of sockets) socket.pause();
    const bytes = (): number => process.memoryUsage().external + process.memoryUsage().heapUsed;
    const beforeBytes = bytes();
    await victim.administrator.create(`${mine}/configmaps`, { metadata: { name: 'loud' } });
    for (let at = 0; at < 100; at++) {
      await victim.administrator.merge(`${mine}/configmaps/loud`, { data: { a: `${at}`.padEnd(200_000, 'x') } });
    }
    // Twenty megabytes were written; a copy for each would be two gigabytes, of which sockets may hold some.
    const grown = bytes() - beforeBytes;
    assert.ok(grown < 600_000_000, `${grown} bytes more`);
    await othersAreServed();
  } finally {
    for (const socket of sockets) socket.destroy();
    await victim.administrator.expect(200, 'DELETE', `${mine}/configmaps/loud`);
  }
});

describe('connections that do not come to their point', () => {
  /** Returns the milliseconds until the server closes it. */
  const closed = async (socket: Socket): Promise<number> => {
    const sinceMs = performance.now();
    socket.on('error', () => {});
    socket.resume();
    // A reset closes the connection, too: `once` would reject.
    await new Promise((resolve) => socket.once('close', resolve));
    return performance.now() - sinceMs;
  };
  const drip = (socket: Socket, bytes: string): Socket => {
    let at = 0;
    const timer = setInterval(() => socket.write(bytes[at++ % bytes.length]!), 250);
    socket.on('close', () => clearInterval(timer));
    return socket;
  };

  test('are closed after seconds, however many they are and however slowly they go on; others are served', async () => {
    const tcp = async (): Promise<Socket> => {
      const socket = connect(victim.port, '127.0.0.1');
      await once(socket, 'connect');
      return socket;
    };
    const head = `GET / HTTP/1.1\r\nHost: x\r\n`;
    const begun: Promise<number>[] = [];
    for (let at = 0; at < 20; at++) {
      const [one, two, three, four, five, six] = await Promise.all([
        tcp(),
        tcp(),
        victim.stranger.socket(),
        victim.stranger.socket(),
        victim.stranger.socket('h2'),
        victim.stranger.socket('h2'),
      ]);
      two!.write(Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc]));
      three!.write(head);
      four!.write(head);
      six!.write(hello.subarray(0, 10));
      begun.push(
        closed(one!),
        closed(two!),
        closed(three!),
        closed(drip(four!, 'X-A: b\r\n')),
        closed(five!),
        closed(six!),
      );
    }
    let isOver = false;
    const all = Promise.all(begun).finally(() => (isOver = true));
    let served = 0;
    while (!isOver) {
      await othersAreServed();
      served++;
      await Promise.race([all.catch(() => {}), new Promise((resolve) => setTimeout(resolve, 1_000))]);
    }
    const times = await all;
    assert.ok(Math.min(...times) > 5_000, 'slow is not the same as hostile');
    assert.ok(served > 5);
  });

  test('a body that does not come holds its own connection only', async () => {
    const sockets = await Promise.all(Array.from({ length: 50 }, () => victim.tenant.socket()));
    try {
      for (const socket of sockets) {
        socket.write(
          `POST ${mine}/configmaps HTTP/1.1\r\nHost: x\r\n${victim.tenant.credentials}Content-Type: application/json\r\nContent-Length: 3000000\r\n\r\n{"a":"`,
        );
      }
      await othersAreServed();
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });
});
