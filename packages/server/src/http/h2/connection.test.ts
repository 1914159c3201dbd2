import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import { errorCode, flag, frame, frameType, setting, settingsFrame } from '@hangar/http2';
import type { Answer, Handler, ServerRequest, Sink } from '../message.ts';
import { heapBytes } from './testing/heap.ts';
import { RawClient, data, get, headers, hello, number32, post, reset } from './testing/raw-client.ts';

const answer = (body: Answer['body'], given: Answer['headers'] = {}): Answer => ({ status: 200, headers: given, body });
const always =
  (body: Answer['body']): Handler =>
  () =>
    Promise.resolve(answer(body));
const widen = (streamId: number, bytes: number): Buffer => frame(frameType.windowUpdate, 0, streamId, number32(bytes));
const windowOf = (bytes: number): Buffer => settingsFrame([[setting.initialWindowSize, bytes]]);
const ended = (client: RawClient, streamId: number) =>
  client.frame(({ type, flags, streamId: its }) => type === frameType.data && its === streamId && (flags & 1) === 1);

const typesOf = (client: RawClient, streamId: number): number[] =>
  client.frames.filter((one) => one.streamId === streamId).map(({ type }) => type);

/** A handler whose responses are written by the test. */
function watched(): { handler: Handler; sinks: Sink[]; closed: number[] } {
  const sinks: Sink[] = [];
  const closed: number[] = [];
  const start = (sink: Sink): void => {
    const at = sinks.push(sink) - 1;
    sink.onClose(() => closed.push(at));
  };
  return { handler: always({ start }), sinks, closed };
}

describe('an answer', () => {
  test('comes with its head, its length and the time', async () => {
    await using client = await RawClient.open(() => Promise.resolve(answer(Buffer.from('hi'), { 'x-a': 'b' })));
    client.send(hello, headers(1, get));
    await ended(client, 1);
    const { date, ...head } = await client.head(1);
    assert.deepEqual(head, { ':status': '200', 'x-a': 'b', 'content-length': '2' });
    assert.ok(Math.abs(Date.parse(date!) - Date.now()) < 60_000);
    assert.equal(client.received(1).toString(), 'hi');
  });

  test('may be of any size, in pieces of any size', async () => {
    const pieces = [0, 1, 20_000, 16_384, 0, 300_000, 5].map((length, at) => Buffer.alloc(length, at));
    await using client = await RawClient.open(always(pieces));
    client.send(hello, widen(0, 2 ** 30), windowOf(2 ** 30), headers(1, get));
    await ended(client, 1);
    assert.deepEqual(client.received(1), Buffer.concat(pieces));
    assert.ok(client.frames.every(({ payload }) => payload.length <= 16_384));
  });

  test('is sent in small frames to whoever allows large ones, and is not taken for a pile that nobody reads', async () => {
    const body = Buffer.alloc(5_000_000, 1);
    await using client = await RawClient.open(always(body));
    client.send(hello, settingsFrame([[setting.maxFrameSize, 2 ** 24 - 1]]), widen(0, 2 ** 30), windowOf(2 ** 30));
    client.send(headers(1, get));
    await ended(client, 1);
    assert.ok(client.received(1).equals(body));
  });

  test('may have more headers than a frame has room for', async () => {
    const long = { 'x-a': 'a'.repeat(30_000), 'x-b': 'b' };
    await using client = await RawClient.open(() => Promise.resolve(answer(Buffer.from('hi'), long)));
    client.send(hello, headers(1, get));
    await ended(client, 1);
    const kinds = client.frames.filter(({ streamId }) => streamId === 1).map(({ type, flags }) => [type, flags]);
    assert.deepEqual(kinds, [
      [frameType.headers, 0],
      [frameType.continuation, flag.endHeaders],
      [frameType.data, flag.endStream],
    ]);
  });

  test('ends with its trailers, after the data that had to wait for a window', async () => {
    const { handler, sinks } = watched();
    await using client = await RawClient.open(handler);
    client.send(hello, windowOf(3), headers(1, get), headers(3, get));
    await client.head(1);
    await client.head(3);
    const trailers = { 'grpc-status': '0' };
    sinks[0]!.write(Buffer.from('waits'));
    sinks[0]!.end(trailers);
    sinks[1]!.end(trailers);
    const isLast = (streamId: number) =>
      client.frame((one) => one.streamId === streamId && (one.flags & flag.endStream) === flag.endStream);
    assert.equal((await isLast(3)).type, frameType.headers);
    client.send(widen(1, 2));
    assert.equal((await isLast(1)).type, frameType.headers);
    assert.equal(client.received(1).toString(), 'waits');
    assert.deepEqual(typesOf(client, 1), [frameType.headers, frameType.data, frameType.data, frameType.headers]);
  });

  test('that goes on is begun for nobody when its head is all there is to it', async () => {
    const closed: string[] = [];
    await using client = await RawClient.open(({ method }) => {
      const start = (sink: Sink): void => sink.onClose(() => closed.push(method));
      return Promise.resolve(answer({ start }, method === 'HEAD' ? {} : { 'x-bad': 'a\nb' }));
    });
    client.send(hello, headers(1, [[':method', 'HEAD'], ...get.slice(1)]));
    assert.equal((await client.of(frameType.headers, 1)).flags & flag.endStream, flag.endStream);
    await client.settled();
    client.send(headers(3, get));
    assert.equal(await client.resetCode(3), errorCode.internal);
    assert.deepEqual(closed, ['HEAD', 'GET']);
  });

  test('does not keep what was sent of it', async () => {
    const { handler, sinks } = watched();
    await using client = await RawClient.open(handler);
    client.send(hello, windowOf(0), headers(1, get));
    await client.settled();
    const chunks: WeakRef<Uint8Array>[] = [];
    for (let at = 0; at < 200; at++) {
      const chunk = new Uint8Array(1_000);
      chunks.push(new WeakRef(chunk));
      sinks[0]!.write(chunk);
    }
    client.send(widen(0, 200_000), widen(1, 190_000));
    await client.body(1, 190_000);
    heapBytes();
    const kept = chunks.filter((chunk) => chunk.deref() !== undefined).length;
    assert.ok(kept <= 20, `${kept} of 200 are kept`);
    client.send(widen(1, 10_000));
    await client.body(1, 200_000);
  });

  test('that cannot be written breaks its stream off, and is told of', async () => {
    await using client = await RawClient.open(() => Promise.resolve(answer([], { 'x-a': 'b\n' })));
    client.send(hello, headers(1, get));
    assert.equal(await client.resetCode(1), errorCode.internal);
    assert.equal(client.problems.length, 1);
  });

  test('that ends before its request refuses the rest, and the connection goes on', async () => {
    await using client = await RawClient.open(always(Buffer.from('no')));
    client.send(hello, headers(1, post, flag.endHeaders));
    assert.equal(await client.resetCode(1), errorCode.none);
    // The body was already in flight. It exceeds the window of the connection, so it must be credited too.
    for (let at = 0; at < 300; at++) client.send(data(1, Buffer.alloc(16_384)));
    client.send(headers(1, [['trailer', 'x']]), headers(3, get));
    await ended(client, 3);
  });

  test('begins with an empty table when the client wants a smaller one', async () => {
    await using client = await RawClient.open(always(Buffer.from('hi')));
    client.send(hello, settingsFrame([[setting.headerTableSize, 0]]), headers(1, get), headers(3, get));
    await ended(client, 3);
    const [first, second] = client.frames.filter(({ type }) => type === frameType.headers);
    assert.deepEqual([first!.payload[0], second!.payload[0]], [0x20, 0x88]);
  });
});

describe('windows', () => {
  test('an answer waits for its stream’s window, and for the connection’s', async () => {
    const body = Buffer.alloc(100_000, 1);
    await using client = await RawClient.open(always(body));
    client.send(hello, windowOf(10), headers(1, get));
    assert.equal((await client.body(1, 10)).length, 10);
    client.send(widen(1, 90_000));
    assert.equal((await client.body(1, 65_535)).length, 65_535);
    client.send(widen(0, 100_000));
    assert.equal((await client.body(1, 90_010)).length, 90_010);
    client.send(widen(1, 100_000));
    await ended(client, 1);
    assert.deepEqual(client.received(1), body);
  });

  test('a window may be taken back to below nothing', async () => {
    await using client = await RawClient.open(always(Buffer.alloc(50, 1)));
    client.send(hello, windowOf(30), headers(1, get));
    await client.settled();
    client.send(windowOf(10), widen(1, 19));
    assert.equal((await client.body(1, 30)).length, 30);
    client.send(widen(1, 2));
    assert.equal((await client.body(1, 31)).length, 31);
  });

  test('streams take turns', async () => {
    await using client = await RawClient.open(always(Buffer.alloc(60_000, 1)));
    client.send(hello, headers(1, get), headers(3, get));
    await client.frame(() => client.received(1).length + client.received(3).length === 65_535);
    // Each stream gets about half of the connection window.
    for (const id of [1, 3]) assert.ok(Math.abs(client.received(id).length - 32_768) <= 16_384, `stream ${id}`);
  });

  test('whoever writes is asked to wait, and called when there is room', async () => {
    const { handler, sinks } = watched();
    await using client = await RawClient.open(handler);
    client.send(hello, windowOf(5), headers(1, get));
    await client.of(frameType.headers, 1);
    const [sink] = sinks;
    let drained = 0;
    sink!.onDrain(() => drained++);
    assert.ok(sink!.write(Buffer.from('12345')));
    assert.ok(sink!.write(Buffer.from('67')), 'a little may wait');
    assert.ok(!sink!.write(Buffer.alloc(70_000)));
    await client.settled();
    assert.deepEqual([drained, client.received(1).toString()], [0, '12345']);
    client.send(widen(1, 100_000), widen(0, 100_000));
    assert.equal((await client.body(1, 70_007)).length, 70_007);
    assert.equal(drained, 1);
    sink!.end();
    await ended(client, 1);
  });

  test('a client that does not read is no reason to make frames', async () => {
    const { handler, sinks } = watched();
    await using client = await RawClient.open(handler);
    client.send(hello, windowOf(2 ** 31 - 1), widen(0, 2 ** 31 - 1 - 65_535), headers(1, get));
    await client.of(frameType.headers, 1);
    client.socket.pause();
    const [sink] = sinks;
    const piece = Buffer.alloc(60_000);
    let written = 0;
    // The amount that the kernel buffers varies, but is bounded.
    while (sink!.write(piece)) {
      written += piece.length;
      assert.ok(written < 64 * 1024 * 1024, 'it is never asked to wait');
      await new Promise((resolve) => setImmediate(resolve));
    }
    const drained = new Promise<void>((resolve) => sink!.onDrain(resolve));
    client.socket.resume();
    await drained;
    sink!.end();
    await ended(client, 1);
    assert.equal(client.received(1).length, written + piece.length);
  });

  test('a body that is read gives its window back, a body that nobody reads does not', async () => {
    const read: Promise<Uint8Array>[] = [];
    const handler = (request: ServerRequest): Promise<Answer> => {
      if (request.target === '/' && request.method === 'POST') read.push(request.body(10_000_000));
      return new Promise(() => {});
    };
    await using client = await RawClient.open(handler);
    const put = [[':method', 'PUT'], ...get.slice(1)] as const;
    const half = Array.from({ length: 32 }, () => Buffer.alloc(16_384));
    client.send(hello, headers(1, post, flag.endHeaders), headers(3, put, flag.endHeaders));
    client.send(...half.map((piece) => data(1, piece)), ...half.map((piece) => data(3, piece)));
    await client.settled();
    const given = client.frames.filter(({ type, streamId }) => type === frameType.windowUpdate && streamId > 0);
    assert.deepEqual(
      given.map(({ streamId }) => streamId),
      [1, 1],
    );
    client.send(data(1, '', flag.endStream));
    assert.equal((await read[0]!).length, 32 * 16_384);
  });
});

describe('a body that nobody wanted', () => {
  const put = Array.from({ length: 60 }, (_, at) => data(1, Buffer.alloc(16_384), at === 59 ? flag.endStream : 0));
  const ofStream = (id: number): Buffer[] =>
    put.map((piece) => {
      const own = Buffer.from(piece);
      own.writeUInt32BE(id, 5);
      return own;
    });

  for (const [name, take] of Object.entries({
    'and that was not even looked at': () => {},
    'and of which only the beginning was read': (request: ServerRequest) => void request.passing!.body.read(),
  })) {
    test(`gives its window back when its request is answered, ${name}`, async () => {
      let finish = (): void => {};
      await using client = await RawClient.open((request) => {
        take(request);
        return new Promise((resolve) => (finish = () => resolve(answer([]))));
      });
      client.send(hello);
      // Together they exceed the connection window.
      for (let id = 1; id < 15; id += 2) {
        client.send(headers(id, post, flag.endHeaders), ...ofStream(id));
        await client.settled();
        finish();
        await client.of(frameType.headers, id);
      }
      assert.deepEqual(client.problems, []);
    });
  }
});

describe('a request', () => {
  test('has its body whole, behind padding, priorities and trailers', async () => {
    const handler = async (request: ServerRequest): Promise<Answer> => answer(await request.body(100));
    await using client = await RawClient.open(handler);
    const length = [...post, ['content-length', '5']] as const;
    client.send(
      hello,
      headers(1, length, flag.endHeaders),
      frame(frameType.data, flag.padded, 1, Buffer.from('\x03abc\0\0\0')),
      frame(frameType.priority, 0, 1, Buffer.alloc(5)),
      frame(0xfa, 0, 1, Buffer.from('nobody knows it')),
      data(1, 'de'),
      headers(1, [['x-trailer', 'y']]),
    );
    await ended(client, 1);
    assert.equal(client.received(1).toString(), 'abcde');
  });

  test('can be handed on as it comes, no faster than it is read', async () => {
    let request: ServerRequest | undefined;
    await using client = await RawClient.open((given) => {
      request = given;
      return new Promise(() => {});
    });
    client.send(hello, headers(1, post, flag.endHeaders));
    await client.settled();
    const { passing } = request!;
    assert.equal(passing!.body, request!.passing!.body);
    for (let at = 0; at < 60; at++) client.send(data(1, Buffer.alloc(16_000)));
    await client.settled();
    const given = (): number => client.frames.filter(({ type, streamId }) => type === 8 && streamId === 1).length;
    assert.equal(given(), 0);
    client.send(data(1, '', flag.endStream));
    let length = 0;
    for await (const piece of passing!.body) length += (piece as Buffer).length;
    assert.equal(length, 60 * 16_000);
  });

  test('that is handed on tells when its client has gone, unless that is taken back', async () => {
    const gone: string[] = [];
    const { handler } = watched();
    await using client = await RawClient.open((request) => {
      const { passing } = request;
      passing!.onGone!(() => gone.push('first'));
      passing!.onGone!(() => gone.push('second'))();
      return handler(request);
    });
    client.send(hello, headers(1, get));
    await client.settled();
    assert.deepEqual(gone, []);
    client.send(reset(1));
    await client.settled();
    assert.deepEqual(gone, ['first']);
  });

  test('is not begun when it was taken back in the same breath', async () => {
    let begun = 0;
    await using client = await RawClient.open(() => {
      begun++;
      return Promise.resolve(answer([]));
    });
    client.send(hello, headers(1, get), reset(1), headers(3, get));
    await client.of(frameType.headers, 3);
    assert.equal(begun, 1);
  });

  test('that is taken back is told so: its body and its sink', async () => {
    const { handler, closed } = watched();
    const failures: Error[] = [];
    await using client = await RawClient.open(async (request) => {
      if (request.method === 'POST') await request.body(10).catch((error) => failures.push(error));
      return handler(request);
    });
    client.send(hello, headers(1, get), headers(3, post, flag.endHeaders));
    await client.settled();
    client.send(reset(1), reset(3));
    await client.settled();
    assert.deepEqual([closed.length, failures.length], [2, 1]);
  });
});

describe('time', () => {
  const newClock = (): Scheduler => new Scheduler(seededRandom(1));

  test('a connection that says nothing, or half of a first word, has 15 seconds', async () => {
    for (const begin of [Buffer.alloc(0), hello.subarray(0, 10), hello.subarray(0, 30)]) {
      const clock = newClock();
      await using client = await RawClient.open(always([]), clock);
      if (begin.length > 0) client.send(begin);
      await clock.advance(14_999);
      assert.ok(!client.isClosed);
      await clock.advance(1);
      assert.equal(await client.goAway(), errorCode.protocol);
    }
  });

  test('a block of headers that does not come to its end has 15 seconds, however its frames are cut', async () => {
    const begun = headers(1, get, flag.endStream);
    for (const begin of [begun, begun.subarray(0, 20), begun.subarray(0, 3)]) {
      const clock = newClock();
      await using client = await RawClient.open(always([]), clock);
      client.send(hello);
      await client.settled();
      client.send(begin);
      // No PING would be answered here, so wait for the timer.
      const left = client.goAway();
      for (let isLeft = false; !isLeft;) {
        await clock.advance(1_000);
        isLeft = await Promise.race([left.then(() => true), new Promise<boolean>((r) => setImmediate(r, false))]);
      }
      assert.equal(await left, errorCode.protocol);
    }
  });

  test('a connection without a request is left after five minutes, one with a watch is not', async () => {
    const { handler, sinks } = watched();
    const clock = newClock();
    await using client = await RawClient.open(handler, clock);
    client.send(hello, headers(1, get));
    await client.of(frameType.headers, 1);
    await clock.advance(1_000_000);
    await client.settled();
    sinks[0]!.end();
    await ended(client, 1);
    await clock.advance(299_000);
    await client.settled();
    await clock.advance(301_000);
    assert.equal(await client.goAway(), errorCode.none);
  });

  test('a response that is not read is dropped after a minute, one that is read slowly is not', async () => {
    const clock = newClock();
    await using client = await RawClient.open(always(Buffer.alloc(200_000)), clock);
    client.send(hello, windowOf(0), headers(1, get), headers(3, get));
    await client.settled();
    for (let minute = 0; minute < 3; minute++) {
      client.send(widen(3, 17_000));
      await client.settled();
      await clock.advance(60_000);
    }
    assert.equal(await client.resetCode(1), errorCode.cancel);
    await client.settled();
    assert.ok(!client.frames.some(({ type, streamId }) => type === frameType.resetStream && streamId === 3));
  });
});

describe('closing', () => {
  test('answers what is under way, refuses what comes, and ends watches', async () => {
    const { handler, sinks } = watched();
    let finish: (given: Answer) => void = () => {};
    await using client = await RawClient.open((request) =>
      request.method === 'POST' ? new Promise((resolve) => (finish = resolve)) : handler(request),
    );
    client.send(hello, headers(1, get), headers(3, post));
    await client.of(frameType.headers, 1);
    sinks[0]!.write(Buffer.from('last'));
    client.connection.close();
    await ended(client, 1);
    assert.equal(client.received(1).toString(), 'last');
    client.send(headers(5, get));
    assert.equal(await client.resetCode(5), errorCode.refusedStream);
    finish(answer(Buffer.from('done')));
    assert.equal(await client.goAway(), errorCode.none);
    assert.equal(client.received(3).toString(), 'done');
  });

  test('a finite answer is not ended before its own end, also when it is only answered then', async () => {
    const sinks: Sink[] = [];
    let go = (): void => {};
    const gate = new Promise<void>((resolve) => (go = resolve));
    const list = always({ isFinite: true, start: (sink) => void sinks.push(sink) });
    await using client = await RawClient.open((request) =>
      request.method === 'POST' ? gate.then(() => list(request)) : list(request),
    );
    client.send(hello, headers(1, get), headers(3, post));
    await client.of(frameType.headers, 1);
    sinks[0]!.write(Buffer.from('begin, '));
    client.connection.close();
    go();
    await client.of(frameType.headers, 3);
    await client.settled();
    assert.ok(!client.frames.some(({ type, flags }) => type === frameType.data && (flags & flag.endStream) !== 0));
    sinks[0]!.write(Buffer.from('end'));
    sinks[0]!.end();
    await ended(client, 1);
    assert.equal(client.received(1).toString(), 'begin, end');
    sinks[1]!.abort!();
    assert.equal(await client.resetCode(3), errorCode.internal);
    assert.equal(await client.goAway(), errorCode.none);
  });

  test('a watch that is only answered then is ended at once', async () => {
    const { handler } = watched();
    let go = (): void => {};
    const gate = new Promise<void>((resolve) => (go = resolve));
    await using client = await RawClient.open((request) => gate.then(() => handler(request)));
    client.send(hello, headers(1, get));
    await client.settled();
    client.connection.close();
    go();
    await ended(client, 1);
    assert.equal(await client.goAway(), errorCode.none);
  });
});
