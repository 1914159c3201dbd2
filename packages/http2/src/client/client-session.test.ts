import assert from 'node:assert/strict';
import { createServer } from 'node:http2';
import type { Http2Server, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { systemClock } from '@hangar/core';
import { ConnectionError } from '../errors.ts';
import { frame, FrameReader, numberFrame } from '../frames.ts';
import { encodedPseudoField } from '../hpack/encoder.ts';
import { errorCode, flag, frameType, initialWindow, preface, setting, windowMax } from '../protocol.ts';
import { settingsFrame } from '../settings.ts';
import { ClientSession } from './client-session.ts';
import type { ClientStream, StreamEnd } from './client-stream.ts';

const block =
  encodedPseudoField(':method', 'POST') +
  encodedPseudoField(':scheme', 'http') +
  encodedPseudoField(':authority', 'localhost') +
  encodedPseudoField(':path', '/');

interface Answered extends StreamEnd {
  readonly status: string | undefined;
  readonly body: Buffer;
}

async function sessionTo(context: TestContext, port: number): Promise<ClientSession> {
  const socket = connect(port, '127.0.0.1');
  const ready = Promise.withResolvers<void>();
  const session = new ClientSession(socket, {
    clock: systemClock,
    streamWindowBytes: 256 * 1024,
    connectionWindowBytes: 1024 * 1024,
    onReady: ready.resolve,
    onClose: (error) => ready.reject(error ?? new Error('closed')),
  });
  context.after(() => session.destroy(undefined));
  await ready.promise;
  return session;
}

function ask(session: ClientSession, body: Uint8Array): { stream: ClientStream; answer: Promise<Answered> } {
  const answer = Promise.withResolvers<Answered>();
  const chunks: Buffer[] = [];
  let status: string | undefined;
  const stream = session.request(block, {
    onHead: (fields) => (status ??= fields.find(({ name }) => name === ':status')?.value),
    onData: (chunk) => chunks.push(Buffer.from(chunk)),
    onEnd: (end) => answer.resolve({ ...end, status, body: Buffer.concat(chunks) }),
  });
  stream.end(body);
  return { stream, answer: answer.promise };
}

async function http2Server(
  context: TestContext,
  onStream: (stream: ServerHttp2Stream) => void,
  settings: object = {},
): Promise<{ port: number; sessions: ServerHttp2Session[] }> {
  const sessions: ServerHttp2Session[] = [];
  const server: Http2Server = createServer({ settings });
  server.on('session', (session) => {
    sessions.push(session);
    session.on('error', () => {});
  });
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.on('error', () => {});
    onStream(stream);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, sessions };
}

const echo = (stream: ServerHttp2Stream): void => {
  stream.respond({ ':status': 200 });
  stream.pipe(stream);
};

test('what is larger than every window comes back whole, many at a time', async (context) => {
  const { port } = await http2Server(context, echo);
  const session = await sessionTo(context, port);
  const bodies = Array.from({ length: 8 }, (_, index) => Buffer.alloc(700_000 + index, index));
  const answers = await Promise.all(bodies.map((body) => ask(session, body).answer));
  answers.forEach(({ status, body, isWhole }, index) => {
    assert.equal(status, '200');
    assert.ok(isWhole);
    assert.ok(body.equals(bodies[index]!));
  });
});

test('more requests than the server takes at once wait for their turn', async (context) => {
  let now = 0;
  let most = 0;
  const { port } = await http2Server(
    context,
    (stream) => {
      most = Math.max(most, ++now);
      stream.once('close', () => now--);
      setTimeout(() => echo(stream), 5);
    },
    { maxConcurrentStreams: 3 },
  );
  const session = await sessionTo(context, port);
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask(session, Buffer.from('x')).answer));
  assert.ok(answers.every(({ status }) => status === '200'));
  assert.ok(most <= 3, `${most} at once`);
});

test('a server that goes away has not begun what it does not name', async (context) => {
  const arrived = Promise.withResolvers<ServerHttp2Stream>();
  const { port, sessions } = await http2Server(context, arrived.resolve);
  const session = await sessionTo(context, port);
  const first = ask(session, Buffer.from('x'));
  const stream = await arrived.promise;
  sessions[0]!.goaway(0, stream.id!);
  while (session.isOpen) await new Promise((resolve) => setImmediate(resolve));
  echo(stream);
  assert.equal((await first.answer).status, '200');
});

test('a reset tells whether the request was begun with', async (context) => {
  const codes = [7, 2];
  const { port } = await http2Server(context, (stream) => stream.close(codes.shift()!));
  const session = await sessionTo(context, port);
  const refused = await ask(session, Buffer.alloc(0)).answer;
  assert.deepEqual([refused.isUnsent, refused.code], [true, 7]);
  const failed = await ask(session, Buffer.alloc(0)).answer;
  assert.deepEqual([failed.isUnsent, failed.code], [false, 2]);
});

test('a cut connection ends every request, once', async (context) => {
  const arrived = Promise.withResolvers<void>();
  const { port, sessions } = await http2Server(context, () => arrived.resolve());
  const session = await sessionTo(context, port);
  const answers = [ask(session, Buffer.from('a')), ask(session, Buffer.from('b'))].map(({ answer }) => answer);
  await arrived.promise;
  sessions[0]!.socket.destroy();
  for (const { isWhole, isUnsent } of await Promise.all(answers)) assert.deepEqual([isWhole, isUnsent], [false, false]);
  assert.ok(session.isClosed);
});

/** A server that sends arbitrary bytes after its settings. */
async function rawServer(
  context: TestContext,
  say: (socket: Socket) => void,
  onHead?: (socket: Socket) => void,
): Promise<number> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {});
    socket.write(settingsFrame([[setting.maxConcurrentStreams, 100]]));
    socket.once('data', () => setImmediate(() => say(socket)));
    const reader = new FrameReader((type) => type === frameType.headers && onHead?.(socket));
    let skipped = 0;
    socket.on('data', (chunk: Buffer) => {
      const from = Math.min(chunk.length, preface.length - skipped);
      skipped += from;
      if (from < chunk.length) reader.feed(chunk.subarray(from));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

for (const [what, bytes] of [
  ['pushes', frame(frameType.pushPromise, flag.endHeaders, 1, Buffer.alloc(4))],
  ['sends data of no stream', frame(frameType.data, 0, 0, Buffer.alloc(1))],
  ['sends headers that are none', frame(frameType.headers, flag.endHeaders, 1, Buffer.from([0xff, 0xff, 0xff]))],
  ['widens a window by nothing', frame(frameType.windowUpdate, 0, 0, Buffer.alloc(4))],
  [
    'interrupts headers',
    Buffer.concat([frame(frameType.headers, 0, 1, Buffer.from([0x88])), frame(frameType.ping, 0, 0, Buffer.alloc(8))]),
  ],
] as const) {
  test(`a server that ${what} is left, and its requests are told`, async (context) => {
    const port = await rawServer(context, (socket) => socket.write(bytes));
    const session = await sessionTo(context, port);
    const { answer } = ask(session, Buffer.from('x'));
    const { isWhole, error } = await answer;
    assert.equal(isWhole, false);
    assert.ok(error);
    assert.ok(session.isClosed);
  });
}

/** Returns how a request ends whose head was answered by this. */
async function endAfter(context: TestContext, bytes: Buffer): Promise<StreamEnd> {
  const port = await rawServer(
    context,
    () => {},
    (socket) => socket.write(bytes),
  );
  return ask(await sessionTo(context, port), Buffer.from('x')).answer;
}

const widened = (streamId: number, bytes: number): Buffer => numberFrame(frameType.windowUpdate, streamId, bytes);
const tooWide = windowMax - initialWindow + 2;

for (const [what, code, bytes] of [
  ['widens the connection’s window by nothing', errorCode.protocol, widened(0, 0)],
  ['makes the connection’s window too large', errorCode.flowControl, widened(0, tooWide)],
  [
    'makes the window of a request too large by its settings',
    errorCode.flowControl,
    Buffer.concat([widened(1, tooWide - 2), settingsFrame([[setting.initialWindowSize, initialWindow + 2]])]),
  ],
] as const) {
  test(`a server that ${what} is told the connection’s error`, async (context) => {
    const { error } = await endAfter(context, bytes);
    assert.ok(error instanceof ConnectionError, String(error));
    assert.equal(error.code, code);
  });
}

for (const [what, code, bytes] of [
  ['widens the window of a request by nothing', errorCode.protocol, widened(1, 0)],
  ['makes the window of a request too large', errorCode.flowControl, widened(1, tooWide)],
] as const) {
  test(`a server that ${what} is told the request’s error`, async (context) => {
    const { error, code: its } = await endAfter(context, bytes);
    assert.deepEqual([error, its], [undefined, code]);
  });
}

test('a request that fails at being told of the end is in no other’s way', async (context) => {
  const { port } = await http2Server(context, () => {});
  const session = await sessionTo(context, port);
  const bug = new Error('a bug');
  session.request(block, {
    onHead: () => {},
    onData: () => {},
    onEnd: () => {
      throw bug;
    },
  });
  const { answer } = ask(session, Buffer.from('x'));
  assert.throws(() => session.destroy(undefined), bug);
  assert.equal((await answer).isWhole, false);
});

test('requests that begin in one turn of the event loop go out in one write', async (context) => {
  const writes: Buffer[] = [];
  const socket = new Duplex({
    read: () => {},
    write(chunk: Buffer, _encoding, done) {
      writes.push(chunk);
      done();
    },
  });
  const session = new ClientSession(socket, {
    clock: systemClock,
    streamWindowBytes: initialWindow,
    connectionWindowBytes: initialWindow,
    onReady: () => {},
    onClose: () => {},
  });
  context.after(() => session.destroy(undefined));
  ask(session, Buffer.from('one'));
  // Like data on another socket: after the microtasks and ticks of this one.
  await new Promise<void>((resolve) => process.nextTick(resolve));
  ask(session, Buffer.from('two'));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(writes.length, 1);
  assert.ok(writes[0]!.includes('one') && writes[0]!.includes('two'));
});

test('a paced stream gets no more than its window until what came is consumed', async (context) => {
  const whole = 1_000_000;
  const { port } = await http2Server(context, (stream) => {
    stream.respond({ ':status': 200 });
    stream.end(Buffer.alloc(whole));
  });
  const session = await sessionTo(context, port);
  let received = 0;
  const ended = Promise.withResolvers<StreamEnd>();
  const stream = session.request(block, {
    isPaced: true,
    onHead: () => {},
    onData: (chunk) => (received += chunk.length),
    onEnd: ended.resolve,
  });
  stream.end(Buffer.alloc(0));
  // Unpaced data passes on the same connection, and arrives after everything that was allowed.
  while (received < 256 * 1024) await new Promise(setImmediate);
  await ask(session, Buffer.alloc(0)).answer;
  assert.equal(received, 256 * 1024);
  for (let consumed = 0; received < whole;) {
    const arrived = received - consumed;
    consumed += arrived;
    stream.consumed(arrived);
    while (received === consumed && received < whole) await new Promise(setImmediate);
  }
  assert.ok((await ended.promise).isWhole);
});
