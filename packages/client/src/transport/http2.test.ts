import assert from 'node:assert/strict';
import type { ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { createServer as createTls } from 'node:tls';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { FrameReader, frameType, preface, setting, settingsFrame } from '@hangar/http2';
import { virtualClock } from '@hangar/testkit';
import type { HttpTransport } from './contract.ts';
import { cable, get, http2Server, listening, serving, transportTo, until } from './testing/servers.ts';
import type { TestServer } from './testing/servers.ts';

const watch = { method: 'GET', target: '/watch', isLong: true } as const;

const answer = (stream: ServerHttp2Stream, text = 'ok'): void => {
  stream.respond({ ':status': 200 });
  stream.end(text);
};

const asking = (transport: HttpTransport) => async (): Promise<string> =>
  (await (await transport.request(get)).body()).toString();

/** Negotiates HTTP/2, and then sends the bytes of the test. */
const rawServer = (context: TestContext, onSocket: (socket: Socket) => void): Promise<TestServer> =>
  listening(
    context,
    createTls({ key: serving.key, cert: serving.certificate, ALPNProtocols: ['h2'] }, onSocket),
    'https',
  );

test('when a connection is full the next one is made, and watches leave room for what ends soon', async (context) => {
  const open: ServerHttp2Stream[] = [];
  const onStream = (stream: ServerHttp2Stream, headers: Readonly<Record<string, string>>): void => {
    if (headers[':path'] !== '/watch') return answer(stream);
    stream.respond({ ':status': 200 });
    open.push(stream);
  };
  const { config, sessions } = await http2Server(context, onStream, { maxConcurrentStreams: 8 });
  const transport = transportTo(context, config);
  const watches = await Promise.all(Array.from({ length: 20 }, () => transport.request(watch)));
  assert.equal(watches.length, 20);
  // Seven of eight each.
  assert.equal(sessions.length, 3);
  const ask = asking(transport);
  for (const text of await Promise.all(Array.from({ length: 50 }, ask))) assert.equal(text, 'ok');
});

test('beyond the bound of connections requests wait for their turn, and watches cannot lock them out', async (context) => {
  const onStream = (stream: ServerHttp2Stream, headers: Readonly<Record<string, string>>): void => {
    if (headers[':path'] !== '/watch') return answer(stream);
    stream.respond({ ':status': 200 });
  };
  const { config, sessions } = await http2Server(context, onStream, { maxConcurrentStreams: 4 });
  const transport = transportTo(context, config, { http2ConnectionsMax: 2 });
  const stopping = new AbortController();
  const watches = Array.from({ length: 10 }, () => transport.request({ ...watch, signal: stopping.signal }));
  await Promise.all(watches.slice(0, 6));
  const ask = asking(transport);
  await Promise.all(Array.from({ length: 30 }, ask));
  assert.equal(sessions.length, 2);
  const ended = Promise.allSettled(watches);
  stopping.abort();
  assert.equal((await ended).filter(({ status }) => status === 'rejected').length, 4);
  await ask();
});

test('what waits for its turn is never sent once its signal has fired, also when that makes room for it', async (context) => {
  // Counts frames: a server may reject excess requests before a handler sees them.
  const got = new Map<number, number>();
  const ended = Promise.withResolvers<void>();
  const { config } = await rawServer(context, (socket) => {
    const reader = new FrameReader((type) => got.set(type, (got.get(type) ?? 0) + 1));
    let prefaceLeft = preface.length;
    socket.on('data', (chunk: Buffer) => {
      const skipped = Math.min(prefaceLeft, chunk.length);
      prefaceLeft -= skipped;
      reader.feed(chunk.subarray(skipped));
    });
    socket.on('close', ended.resolve);
    socket.write(settingsFrame([[setting.maxConcurrentStreams, 1]]));
  });
  const transport = transportTo(context, config, { http2ConnectionsMax: 1 });
  const stopping = new AbortController();
  const { signal } = stopping;
  const asked = ['/first', '/second', '/third'].map((target) => transport.request({ method: 'POST', target, signal }));
  await until(() => got.get(frameType.headers) === 1);
  const settled = Promise.allSettled(asked);
  stopping.abort();
  for (const one of await settled) assert.ok(one.status === 'rejected' && one.reason.code === 'Aborted');
  await until(() => got.has(frameType.resetStream));
  await transport.close();
  await ended.promise;
  assert.deepEqual([got.get(frameType.headers), got.get(frameType.resetStream)], [1, 1]);
});

test('a server that takes no requests at all is not asked for ever', async (context) => {
  const { config, sessions } = await http2Server(context, (stream) => answer(stream), { maxConcurrentStreams: 0 });
  await assert.rejects(transportTo(context, config).request(get), { code: 'ConnectionFailed' });
  assert.equal(sessions.length, 1);
});

test('what a server that goes away has not begun is asked of the next connection, also when it writes', async (context) => {
  const { config, sessions } = await http2Server(context, (stream, headers) => {
    if (sessions.length > 1) return answer(stream, 'second');
    // GOAWAY names the first stream as the last one processed.
    if (headers[':path'] !== '/first') return;
    sessions[0]!.goaway(0, 1);
    setTimeout(() => answer(stream, 'first'), 50);
  });
  const transport = transportTo(context, config);
  const asked = ['/first', '/second', '/third'].map((target) => transport.request({ method: 'POST', target }));
  const bodies = await Promise.all(asked.map(async (one) => (await (await one).body()).toString()));
  assert.deepEqual(bodies, ['first', 'second', 'second']);
  assert.equal(sessions.length, 2);
});

test('a stream that is refused is asked again, one that is cancelled is not', async (context) => {
  let asked = 0;
  const { config } = await http2Server(context, (stream, headers) => {
    asked++;
    if (headers[':path'] === '/cancelled') return stream.close(8);
    if (asked < 3) return stream.close(7);
    answer(stream);
  });
  const transport = transportTo(context, config);
  assert.equal((await (await transport.request({ method: 'POST', target: '/refused' })).body()).toString(), 'ok');
  assert.equal(asked, 3);
  await assert.rejects(transport.request({ method: 'POST', target: '/cancelled' }), { code: 'ConnectionLost' });
  assert.equal(asked, 4);
});

test('a connection whose other end is gone without a word is noticed within 45 s, and another one is made', async (context) => {
  const clock = virtualClock();
  const server = await http2Server(context, (stream, headers) => {
    if (headers[':path'] === '/watch') stream.respond({ ':status': 200 });
    else answer(stream);
  });
  const { config, cut } = await cable(context, server);
  const transport = transportTo(context, config, { clock });
  const events = (await transport.request(watch)).stream()[Symbol.asyncIterator]();
  const broken = assert.rejects(async () => events.next(), { code: 'ConnectionLost' });
  cut();
  const lost = assert.rejects(transport.request({ method: 'POST', target: '/' }), { code: 'ConnectionLost' });
  const begunMs = clock.monotonicMs();
  let isOver = false;
  void Promise.all([broken, lost]).then(() => (isOver = true));
  while (!isOver) await clock.advance(1_000);
  assert.ok(clock.monotonicMs() - begunMs <= 46_000, `${clock.monotonicMs() - begunMs} ms`);
  await (await transport.request(get)).body();
  assert.equal(server.sessions.length, 2);
});

test('a quiet watch lives on as long as the server answers pings', async (context) => {
  const clock = virtualClock();
  const watches: ServerHttp2Stream[] = [];
  const { config, sessions } = await http2Server(context, (stream, headers) => {
    if (headers[':path'] !== '/watch') return answer(stream);
    stream.respond({ ':status': 200 });
    watches.push(stream);
  });
  const transport = transportTo(context, config, { clock });
  const events = (await transport.request(watch)).stream()[Symbol.asyncIterator]();
  let pings = 0;
  sessions[0]!.on('ping', () => pings++);
  for (let minutes = 0; minutes < 10; minutes++) {
    const before = pings;
    await clock.advance(31_000);
    await until(() => pings > before);
    // Arrives after the ping response: time advances only when both are here.
    await (await transport.request(get)).body();
  }
  watches[0]!.write('still here');
  assert.equal(Buffer.from((await events.next()).value).toString(), 'still here');
  assert.equal(sessions.length, 1);
});

test('a connection that nobody uses is closed', async (context) => {
  const clock = virtualClock();
  const { config, sessions } = await http2Server(context, (stream) => answer(stream));
  const transport = transportTo(context, config, { clock, readIdleMs: 100_000, idleMs: 90_000 });
  await (await transport.request(get)).body();
  let isClosed = false;
  sessions[0]!.once('close', () => (isClosed = true));
  await clock.advance(100_000);
  await until(() => isClosed);
  await (await transport.request(get)).body();
  assert.equal(sessions.length, 2);
});

test('a server that accepts and says nothing is given up after the time for connecting', async (context) => {
  const { config } = await rawServer(context, () => {});
  const transport = transportTo(context, config, { connectTimeoutMs: 200 });
  await assert.rejects(transport.request(get), { code: 'ConnectionFailed', message: /within 200 ms/ });
});

test('a server that speaks something else is ConnectionFailed', async (context) => {
  const { config } = await rawServer(context, (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  await assert.rejects(transportTo(context, config).request(get), { code: 'ConnectionFailed' });
});

test('credentials are had again before a request is sent again', async (context) => {
  const tokens: string[] = [];
  const { config } = await http2Server(context, (stream, headers) => {
    tokens.push(headers['authorization']!);
    if (tokens.length === 1) stream.close(7);
    else answer(stream);
  });
  let at = 0;
  const credentials = { headers: () => ({ authorization: `Bearer ${++at}` }) };
  await (await transportTo(context, { ...config, credentials }).request(get)).body();
  assert.deepEqual(tokens, ['Bearer 1', 'Bearer 2']);
});
