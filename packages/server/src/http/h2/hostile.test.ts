/** Clients that violate RFC 9113, or that try to cost the server more than they spend. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import { errorCode, flag, frame, frameType, preface, setting, settingsFrame } from '@hangar/http2';
import type { Answer, Handler, ServerRequest } from '../message.ts';
import { heapBytes } from './testing/heap.ts';
import {
  RawClient,
  block,
  data,
  get,
  headers,
  hello,
  noSettings,
  number32,
  post,
  reset,
} from './testing/raw-client.ts';

const short: Answer = { status: 200, headers: {}, body: Buffer.from('hi') };
const readsBody: Handler = async (request) => {
  await request.body(1_000_000).catch(() => {});
  return short;
};
const noop = (): void => {};
const never: Handler = () => new Promise(() => {});
const ping = frame(frameType.ping, 0, 0, Buffer.alloc(8));
const begun = flag.endHeaders;
const many = (count: number, make: (at: number) => Buffer): Buffer[] =>
  Array.from({ length: count }, (_, at) => make(at));
const opened = Buffer.concat([hello, headers(1, post, begun)]);

describe('a connection error, and its code', () => {
  const cases: Record<string, [code: number, ...sent: Buffer[]]> = {
    'a preface of another protocol': [errorCode.protocol, Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n')],
    'no SETTINGS first': [errorCode.protocol, preface, ping],
    'an acknowledgement of SETTINGS first': [
      errorCode.protocol,
      preface,
      frame(frameType.settings, flag.ack, 0, Buffer.alloc(0)),
    ],
    'SETTINGS of a stream': [errorCode.protocol, hello, frame(frameType.settings, 0, 1, Buffer.alloc(0))],
    'SETTINGS of half a setting': [errorCode.frameSize, hello, frame(frameType.settings, 0, 0, Buffer.alloc(3))],
    'SETTINGS in an acknowledgement': [
      errorCode.frameSize,
      hello,
      frame(frameType.settings, flag.ack, 0, Buffer.alloc(6)),
    ],
    'a window that is too large, by SETTINGS': [
      errorCode.flowControl,
      hello,
      settingsFrame([[setting.initialWindowSize, 2 ** 31]]),
    ],
    'a window that grows too large by SETTINGS': [
      errorCode.flowControl,
      opened,
      frame(frameType.windowUpdate, 0, 1, number32(2 ** 31 - 1 - 65_535)),
      settingsFrame([[setting.initialWindowSize, 65_536]]),
    ],
    'frames that are too small, by SETTINGS': [
      errorCode.protocol,
      hello,
      settingsFrame([[setting.maxFrameSize, 16_383]]),
    ],
    'frames that are too large, by SETTINGS': [
      errorCode.protocol,
      hello,
      settingsFrame([[setting.maxFrameSize, 2 ** 24]]),
    ],
    'push that is neither on nor off': [errorCode.protocol, hello, settingsFrame([[setting.enablePush, 2]])],
    'DATA of no stream': [errorCode.protocol, hello, data(0, 'x')],
    'DATA of a stream that was not opened': [errorCode.protocol, hello, data(1, 'x')],
    'DATA of a stream that its client closed': [errorCode.streamClosed, opened, reset(1), data(1, 'x')],
    'DATA with padding longer than the frame': [
      errorCode.protocol,
      opened,
      frame(frameType.data, flag.padded, 1, Buffer.from('\x05abcd')),
    ],
    'DATA with no room for its padding': [
      errorCode.frameSize,
      opened,
      frame(frameType.data, flag.padded, 1, Buffer.alloc(0)),
    ],
    'HEADERS of no stream': [errorCode.protocol, hello, headers(0, get)],
    'HEADERS of an even stream': [errorCode.protocol, hello, headers(2, get)],
    'HEADERS of a stream that its client closed': [errorCode.streamClosed, opened, reset(1), headers(1, get)],
    'HEADERS with padding longer than the frame': [
      errorCode.protocol,
      hello,
      frame(frameType.headers, flag.padded | 5, 1, Buffer.from('\xff\x82', 'latin1')),
    ],
    'HEADERS too short for a priority': [
      errorCode.frameSize,
      hello,
      frame(frameType.headers, flag.priority | 5, 1, Buffer.alloc(4)),
    ],
    'HEADERS that depend on themselves': [
      errorCode.protocol,
      hello,
      frame(frameType.headers, flag.priority | 5, 1, Buffer.concat([number32(1), Buffer.from([0]), block(get)])),
    ],
    'PRIORITY has an invalid length, of a stream that was not opened': [
      errorCode.frameSize,
      hello,
      frame(frameType.priority, 0, 1, Buffer.alloc(4)),
    ],
    'PRIORITY on itself, of a stream that was not opened': [
      errorCode.protocol,
      hello,
      frame(frameType.priority, 0, 1, Buffer.from([0, 0, 0, 1, 0])),
    ],
    'headers that cannot be decoded': [
      errorCode.compression,
      hello,
      frame(frameType.headers, 5, 1, Buffer.from([0x80])),
    ],
    'a frame inside a block of headers': [errorCode.protocol, hello, headers(1, get, 0), ping],
    'a frame that nobody knows inside a block of headers': [
      errorCode.protocol,
      hello,
      headers(1, get, 0),
      frame(99, 0, 0, Buffer.alloc(0)),
    ],
    'CONTINUATION of another stream': [
      errorCode.protocol,
      hello,
      headers(1, get, 0),
      frame(frameType.continuation, 4, 3, Buffer.alloc(0)),
    ],
    'CONTINUATION of nothing': [errorCode.protocol, hello, frame(frameType.continuation, 4, 1, Buffer.alloc(0))],
    'RST_STREAM of no stream': [errorCode.protocol, hello, reset(0)],
    'RST_STREAM of a stream that was not opened': [errorCode.protocol, hello, reset(1)],
    'RST_STREAM has an invalid length': [
      errorCode.frameSize,
      opened,
      frame(frameType.resetStream, 0, 1, Buffer.alloc(3)),
    ],
    'PRIORITY of no stream': [errorCode.protocol, hello, frame(frameType.priority, 0, 0, Buffer.alloc(5))],
    'PING of a stream': [errorCode.protocol, hello, frame(frameType.ping, 0, 1, Buffer.alloc(8))],
    'PING has an invalid length': [errorCode.frameSize, hello, frame(frameType.ping, 0, 0, Buffer.alloc(7))],
    'GOAWAY of a stream': [errorCode.protocol, hello, frame(frameType.goAway, 0, 1, Buffer.alloc(8))],
    PUSH_PROMISE: [errorCode.protocol, opened, frame(frameType.pushPromise, 4, 1, Buffer.alloc(4))],
    'WINDOW_UPDATE has an invalid length': [
      errorCode.frameSize,
      hello,
      frame(frameType.windowUpdate, 0, 0, Buffer.alloc(5)),
    ],
    'WINDOW_UPDATE by nothing': [errorCode.protocol, hello, frame(frameType.windowUpdate, 0, 0, number32(0))],
    'WINDOW_UPDATE beyond what a window can be': [
      errorCode.flowControl,
      hello,
      frame(frameType.windowUpdate, 0, 0, number32(2 ** 31 - 1)),
    ],
    'WINDOW_UPDATE of a stream that was not opened': [
      errorCode.protocol,
      hello,
      frame(frameType.windowUpdate, 0, 1, number32(1)),
    ],
    'a frame larger than allowed': [errorCode.frameSize, opened, data(1, Buffer.alloc(16_385))],
  };
  for (const [name, [code, ...sent]] of Object.entries(cases)) {
    test(name, async () => {
      await using client = await RawClient.open(readsBody);
      client.send(...sent);
      assert.equal(await client.goAway(), code);
      assert.deepEqual(client.problems, []);
    });
  }

  test('DATA beyond the connection’s window', async () => {
    await using client = await RawClient.open(never);
    client.send(hello);
    for (let id = 1; id <= 9; id += 2) {
      client.send(headers(id, post, begun), ...many(60, () => data(id, Buffer.alloc(16_384))));
    }
    assert.equal(await client.goAway(), errorCode.flowControl);
  });
});

describe('a stream error costs the stream alone', () => {
  const length = [...post, ['content-length', '3']] as const;
  const cases: Record<string, [code: number, ...sent: Buffer[]]> = {
    'a malformed head': [errorCode.protocol, headers(1, [...get, ['Upper', 'x']])],
    'a body longer than said': [errorCode.protocol, headers(1, length, begun), data(1, 'abcd')],
    'a body shorter than said': [errorCode.protocol, headers(1, length, begun), data(1, 'ab', flag.endStream)],
    'no body where one was said': [errorCode.protocol, headers(1, length)],
    'trailers that are not the end': [errorCode.protocol, headers(1, post, begun), headers(1, [['a', 'b']], begun)],
    'trailers with a pseudo-header': [errorCode.protocol, headers(1, post, begun), headers(1, [[':path', '/']])],
    'PRIORITY has an invalid length': [
      errorCode.frameSize,
      headers(1, post, begun),
      frame(frameType.priority, 0, 1, Buffer.alloc(4)),
    ],
    'PRIORITY on itself': [
      errorCode.protocol,
      headers(1, post, begun),
      frame(frameType.priority, 0, 1, Buffer.from([0, 0, 0, 1, 0])),
    ],
    'WINDOW_UPDATE by nothing': [
      errorCode.protocol,
      headers(1, post, begun),
      frame(frameType.windowUpdate, 0, 1, number32(0)),
    ],
    'WINDOW_UPDATE beyond what a window can be': [
      errorCode.flowControl,
      headers(1, post, begun),
      frame(frameType.windowUpdate, 0, 1, number32(2 ** 31 - 1)),
    ],
    'DATA beyond its window': [
      errorCode.flowControl,
      headers(1, [...post.slice(0, 2), [':path', '/never'], [':authority', 'x']], begun),
      ...many(65, () => data(1, Buffer.alloc(16_384))),
    ],
  };
  for (const [name, [code, ...sent]] of Object.entries(cases)) {
    test(name, async () => {
      await using client = await RawClient.open((request) =>
        request.target === '/never' ? new Promise(() => {}) : readsBody(request),
      );
      client.send(hello, ...sent);
      assert.equal(await client.resetCode(1), code);
      client.send(headers(3, get));
      assert.equal((await client.head(3))[':status'], '200');
      assert.deepEqual(client.problems, []);
    });
  }

  test('DATA after the end of a request that is not answered yet', async () => {
    await using client = await RawClient.open(never);
    client.send(hello, headers(1, get));
    await client.settled();
    client.send(data(1, 'x'));
    assert.equal(await client.resetCode(1), errorCode.streamClosed);
    client.send(headers(3, get));
    await client.settled();
  });
});

describe('too much', () => {
  test('headers are answered with 431, and the table is not out of step', async () => {
    await using client = await RawClient.open(readsBody);
    const value = 'x'.repeat(16_000);
    const kept = Buffer.concat([Buffer.from([0x40]), block([['x-kept', 'y']]).subarray(1)]);
    const large = Buffer.concat([block(get), kept, ...many(3, () => block([['x-large', value]]))]);
    const pieces = many(4, (at) => large.subarray(at * 16_384, (at + 1) * 16_384)).filter(({ length }) => length > 0);
    // The first block has 48,000 characters and is accepted. This one refers to the table 300 times: too many fields.
    const small = Buffer.concat([block(get), ...many(300, () => Buffer.from([0xbe]))]);
    client.send(
      hello,
      ...pieces.map((piece, at) =>
        frame(
          at === 0 ? frameType.headers : frameType.continuation,
          (at === 0 ? 1 : 0) | (at === pieces.length - 1 ? 4 : 0),
          1,
          piece,
        ),
      ),
      frame(frameType.headers, 5, 3, small),
      frame(frameType.headers, 5, 5, Buffer.concat([block(get), Buffer.from([0xbe])])),
    );
    const statuses = [];
    for (const id of [1, 3, 5]) statuses.push((await client.head(id))[':status']);
    assert.deepEqual(statuses, ['200', '431', '200']);
  });

  test('a table bomb is counted as what it stands for', async () => {
    await using client = await RawClient.open(readsBody);
    const kept = Buffer.concat([Buffer.from([0x40]), block([['x-kept', 'y'.repeat(4_000)]]).subarray(1)]);
    const bomb = Buffer.concat([block(get), kept, Buffer.alloc(100, 0xbe)]);
    client.send(hello, frame(frameType.headers, 5, 1, bomb));
    assert.equal((await client.head(1))[':status'], '431');
  });

  test('a block of headers that does not end is left: large frames, empty frames (CVE-2024-27316)', async () => {
    for (const piece of [Buffer.alloc(16_384, 0x82), Buffer.alloc(0)]) {
      await using client = await RawClient.open(readsBody);
      client.send(hello, headers(1, get, 0), ...many(70, () => frame(frameType.continuation, 0, 1, piece)));
      assert.equal(await client.goAway(), errorCode.enhanceYourCalm);
    }
  });

  test('streams at once are refused, and those before them go on', async () => {
    await using client = await RawClient.open(never);
    client.send(hello, ...many(251, (at) => headers(2 * at + 1, get)));
    assert.equal(await client.resetCode(501), errorCode.refusedStream);
    await client.settled();
    assert.equal(client.frames.filter(({ type }) => type === frameType.resetStream).length, 1);
  });

  test('handlers at work count, though their streams were reset (CVE-2023-44487)', async () => {
    let begunCount = 0;
    await using client = await RawClient.open(() => {
      begunCount++;
      return new Promise(() => {});
    });
    client.send(hello, ...many(200, (at) => headers(2 * at + 1, get)));
    await client.settled();
    client.send(...many(200, (at) => reset(2 * at + 1)));
    client.send(...many(200, (at) => headers(401 + 2 * at, get)));
    await client.settled();
    assert.equal(begunCount, 250);
    assert.equal(await client.resetCode(799), errorCode.refusedStream);
  });

  test('resets are allowed for a while, and again later', async () => {
    const clock = new Scheduler(seededRandom(1));
    await using client = await RawClient.open(never, clock);
    let id = -1;
    const openAndReset = (count: number): Buffer[] =>
      many(count, () => Buffer.concat([headers((id += 2), get), reset(id)]));
    client.send(hello, ...openAndReset(1_000));
    await client.settled();
    await clock.advance(10_000);
    client.send(...openAndReset(300));
    await client.settled();
    client.send(...openAndReset(100));
    assert.equal(await client.goAway(), errorCode.enhanceYourCalm);
  });

  test('resets that the server is made to send count as much (CVE-2025-8671)', async () => {
    await using client = await RawClient.open(readsBody);
    const provoked = (at: number): Buffer =>
      Buffer.concat([headers(2 * at + 1, get, begun), frame(frameType.windowUpdate, 0, 2 * at + 1, number32(0))]);
    client.send(hello, ...many(1_100, provoked));
    assert.equal(await client.goAway(), errorCode.enhanceYourCalm);
  });

  for (const [name, one] of Object.entries({
    PING: ping,
    SETTINGS: noSettings,
    PRIORITY: frame(frameType.priority, 0, 3, Buffer.alloc(5)),
    'DATA without data': data(1, ''),
    'DATA of padding alone': frame(frameType.data, flag.padded, 1, Buffer.from([2, 0, 0])),
    'what nobody knows': frame(99, 0, 0, Buffer.alloc(0)),
  })) {
    test(`${name} is allowed for a while`, async () => {
      await using client = await RawClient.open(readsBody, new Scheduler(seededRandom(1)));
      client.send(opened, ...many(900, () => one));
      await client.settled();
      client.send(...many(200, () => one));
      assert.equal(await client.goAway(), errorCode.enhanceYourCalm);
    });
  }

  for (const [name, take] of Object.entries<(request: ServerRequest) => unknown>({
    'that is waited for': (request) => request.body(3_000_000).catch(() => {}),
    'that nobody asked for yet': () => undefined,
    'that is handed on to who does not read': (request) => request.passing!.body.once('end', noop),
  })) {
    test(`a body ${name}, in pieces of one byte, costs about what it is long`, async () => {
      await using client = await RawClient.open((request) => {
        take(request);
        return new Promise(() => {});
      });
      client.send(opened);
      await client.settled();
      const before = heapBytes();
      const pieces = Buffer.concat(many(20_000, () => data(1, 'x')));
      for (let round = 0; round < 10; round++) {
        client.send(pieces);
        await client.settled();
        // Do not count the memory of the client itself.
        client.frames.length = 0;
      }
      const costs = heapBytes() - before;
      assert.ok(costs < 5_000_000, `${costs} bytes for 200,000`);
    });
  }

  test('answers that nobody reads: the connection is cut before they fill the memory', async () => {
    const large = { 'x-large': 'x'.repeat(16_000) };
    await using client = await RawClient.open(() => Promise.resolve({ ...short, headers: large, body: [] }));
    client.send(hello);
    await client.settled();
    client.socket.pause();
    const cut = new Promise<void>((resolve) => client.socket.once('close', () => resolve()));
    // Without DATA frames, flow control does not stop them.
    for (let id = 1; id < 200_000 && !client.socket.destroyed; id += 200) {
      client.send(...many(100, (at) => headers(id + 2 * at, get)));
      await new Promise((resolve) => setImmediate(resolve));
      if (client.socket.writableLength > 1_000_000) break;
    }
    client.socket.resume();
    await cut;
  });

  test('large answers that wait for a window are limited for each connection, and the room comes back', async () => {
    const mebibyte = 1024 * 1024;
    const large: Answer = { status: 200, headers: {}, body: Buffer.alloc(32 * mebibyte) };
    await using client = await RawClient.open(() => Promise.resolve(large));
    // No stream may send anything.
    client.send(preface, settingsFrame([[setting.initialWindowSize, 0]]));
    client.send(...many(5, (at) => headers(1 + 2 * at, get)));
    const statuses: string[] = [];
    for (let id = 1; id < 11; id += 2) statuses.push((await client.head(id))[':status']!);
    assert.deepEqual(statuses, ['200', '200', '200', '429', '429']);
    // A client that resets a stream makes room for another response.
    client.send(reset(1), headers(11, get));
    assert.equal((await client.head(11))[':status'], '200');
  });

  test('a write beyond the limit is reset, not answered with 429: it was done, and must not be sent again', async () => {
    const large: Answer = { status: 201, headers: {}, body: Buffer.alloc(64 * 1024 * 1024) };
    await using client = await RawClient.open(() => Promise.resolve(large));
    client.send(preface, settingsFrame([[setting.initialWindowSize, 0]]), headers(1, post), headers(3, post));
    assert.equal((await client.head(1))[':status'], '201');
    assert.equal(await client.resetCode(3), errorCode.enhanceYourCalm);
  });
});
