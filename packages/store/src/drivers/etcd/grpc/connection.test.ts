import assert from 'node:assert/strict';
import { constants } from 'node:http2';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { systemClock, systemTransport } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { GrpcError, messageBytesMax } from '@hangar/http2/grpc';
import { framed } from '../testing/etcd-proto.ts';
import { scriptedServer } from '../testing/scripted-server.ts';
import type { ScriptedCall } from '../testing/scripted-server.ts';
import { openConnection } from './connection.ts';
import type { Connection } from './connection.ts';
import { parseEndpoint } from './endpoint.ts';

const question = framed(Buffer.from('question'));
const method = '/test.Service/Ask';

async function connectTo(
  context: TestContext,
  url: string,
  silenceMs = 5_000,
  clock: Clock = systemClock,
): Promise<Connection> {
  const connection = await openConnection({
    endpoint: parseEndpoint(url),
    tls: undefined,
    transport: systemTransport,
    clock,
    connectTimeoutMs: 5_000,
    silenceMs,
    signal: new AbortController().signal,
  });
  context.after(() => connection.destroy());
  return connection;
}

/** Returns how one call ends against a server with this script. */
async function outcome(context: TestContext, script: (call: ScriptedCall) => void): Promise<GrpcError | string> {
  const server = await scriptedServer(context, script);
  const connection = await connectTo(context, server.url);
  return connection.unary(method, question, { timeoutMs: 10_000 }).then(
    (answer) => answer.toString(),
    (error: GrpcError) => error,
  );
}

function failure(outcome: GrpcError | string): [number, string] {
  assert.ok(outcome instanceof GrpcError, `it succeeded: ${String(outcome)}`);
  return [outcome.status, outcome.fate];
}

test('a call carries its message, its metadata and its time limit', async (context) => {
  const server = await scriptedServer(context, (call) => {
    call.onMessage = (message) => {
      const { te, token, 'grpc-timeout': timeout, 'content-type': type } = call.headers;
      call.answer(Buffer.from([call.method, message, te, token, timeout, type].join(' ')));
    };
  });
  const connection = await connectTo(context, server.url);
  const answer = await connection.unary(method, question, { timeoutMs: 4_321, metadata: { token: 'abc' } });
  assert.equal(answer.toString(), `${method} question trailers abc 4321m application/grpc`);
});

test('an answer in many frames is put together', async (context) => {
  const large = Buffer.alloc(3_000_000, 'abcdefg');
  const result = await outcome(context, (call) => {
    call.respond();
    const frame = framed(large);
    call.stream.write(frame.subarray(0, 3));
    call.stream.write(frame.subarray(3, 70_000));
    call.stream.write(frame.subarray(70_000));
    call.end();
  });
  assert.equal(result, large.toString());
});

test('a failure that is told in headers alone is an answer', async (context) => {
  const result = await outcome(context, (call) => call.refuse(5, 'not%20there'));
  assert.deepEqual([...failure(result), (result as GrpcError).message], [5, 'answered', 'not there']);
});

test('a failure after an answer is a failure', async (context) => {
  const result = await outcome(context, (call) => {
    call.send(Buffer.from('half'));
    call.end(13, 'broken');
  });
  assert.deepEqual(failure(result), [13, 'answered']);
});

test('status OK without a response message is a failure', async (context) => {
  assert.deepEqual(failure(await outcome(context, (call) => call.end())), [13, 'lost']);
});

test('an answer that ends inside a message is a failure', async (context) => {
  const result = await outcome(context, (call) => {
    call.respond();
    call.stream.write(Buffer.from([0, 0, 0, 0, 9, 1, 2]));
    call.end();
  });
  assert.deepEqual(failure(result), [13, 'lost']);
});

test('an answer that claims to be larger than the limit is refused', async (context) => {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(messageBytesMax + 1, 1);
  const result = await outcome(context, (call) => {
    call.respond();
    call.stream.write(prefix);
  });
  assert.deepEqual(failure(result), [8, 'lost']);
});

test('an HTTP failure is not an answer of gRPC', async (context) => {
  const result = await outcome(context, (call) => call.stream.respond({ ':status': 503 }, { endStream: true }));
  assert.deepEqual(failure(result), [14, 'lost']);
});

test('a stream that the server refused was never executed, one that it broke may have been', async (context) => {
  const refused = await outcome(context, (call) => call.reset(constants.NGHTTP2_REFUSED_STREAM));
  assert.deepEqual(failure(refused), [14, 'unsent']);
  const broken = await outcome(context, (call) => call.reset(constants.NGHTTP2_INTERNAL_ERROR));
  assert.deepEqual(failure(broken), [14, 'lost']);
});

test('a connection that breaks loses its calls', async (context) => {
  const result = await outcome(context, (call) => call.cut());
  assert.deepEqual(failure(result), [14, 'lost']);
});

test('timed out waiting for the server ends the call and tells the server', async (context) => {
  const cancelled = Promise.withResolvers<number>();
  const server = await scriptedServer(context, (call) => {
    call.stream.on('close', () => cancelled.resolve(call.stream.rstCode));
  });
  const connection = await connectTo(context, server.url);
  const error = await connection.unary(method, question, { timeoutMs: 50 }).catch((error: GrpcError) => error);
  assert.deepEqual(failure(error as GrpcError), [4, 'lost']);
  assert.equal(await cancelled.promise, constants.NGHTTP2_CANCEL);
  assert.ok(connection.usable, 'the connection is fine');
});

test('after GOAWAY the calls under way end well and new ones go elsewhere', async (context) => {
  const calls: ScriptedCall[] = [];
  const arrived = Promise.withResolvers<void>();
  const server = await scriptedServer(context, (call) => {
    calls.push(call);
    arrived.resolve();
  });
  const connection = await connectTo(context, server.url);
  const underWay = connection.unary(method, question, { timeoutMs: 10_000 });
  await arrived.promise;
  for (const session of server.sessions) session.close();
  while (connection.usable) await new Promise((resolve) => setTimeout(resolve, 5));
  await assert.rejects(connection.unary(method, question, { timeoutMs: 1_000 }), { status: 14, fate: 'unsent' });
  calls[0]!.answer(Buffer.from('late but fine'));
  assert.equal((await underWay).toString(), 'late but fine');
});

test('a stream carries messages both ways until one side ends it', async (context) => {
  const server = await scriptedServer(context, (call) => {
    call.onMessage = (message) => (message.toString() === 'end' ? call.end(14, 'bye') : call.send(message));
  });
  const connection = await connectTo(context, server.url);
  const received: string[] = [];
  const ended = Promise.withResolvers<GrpcError | undefined>();
  const call = connection.stream(
    method,
    {},
    {
      onMessage(message) {
        received.push(message.toString());
        call.write(framed(Buffer.from(received.length < 3 ? `again ${received.length}` : 'end')));
      },
      onEnd: ended.resolve,
    },
  );
  call.write(framed(Buffer.from('first')));
  assert.equal((await ended.promise)?.message, 'bye');
  assert.deepEqual(received, ['first', 'again 1', 'again 2']);
});

test('a cancelled stream ends at once and hears nothing more', async (context) => {
  const server = await scriptedServer(context, (call) => call.send(Buffer.from('hello')));
  const connection = await connectTo(context, server.url);
  const ended = Promise.withResolvers<GrpcError | undefined>();
  const call = connection.stream(method, {}, { onMessage: () => call.cancel(), onEnd: ended.resolve });
  call.write(question);
  assert.deepEqual(failure((await ended.promise)!), [1, 'lost']);
});

test('nobody there is an error that says so, and nothing was sent', async () => {
  const error = await openConnection({
    endpoint: parseEndpoint('http://127.0.0.1:1'),
    tls: undefined,
    transport: systemTransport,
    clock: systemClock,
    connectTimeoutMs: 5_000,
    silenceMs: 5_000,
    signal: new AbortController().signal,
  }).catch((error: GrpcError) => error);
  assert.deepEqual(failure(error as GrpcError), [14, 'unsent']);
  assert.match((error as GrpcError).message, /http:\/\/127\.0\.0\.1:1 cannot be reached/);
});

/** Accepts connections and lets the test talk in bytes. */
async function rawServer(context: TestContext, onSocket: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    onSocket(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function refusedConnection(url: string, connectTimeoutMs: number): Promise<GrpcError> {
  const options = {
    tls: undefined,
    transport: systemTransport,
    clock: systemClock,
    silenceMs: 5_000,
    connectTimeoutMs,
  };
  const { signal } = new AbortController();
  const error = await openConnection({ ...options, endpoint: parseEndpoint(url), signal }).catch(
    (error: GrpcError) => error,
  );
  assert.ok(error instanceof GrpcError);
  return error;
}

test('a server that accepts and never speaks is not a connection', async (context) => {
  const url = await rawServer(context, () => {});
  assert.deepEqual(failure(await refusedConnection(url, 100)), [14, 'unsent']);
});

test('a server that speaks something else is not a connection', async (context) => {
  const url = await rawServer(context, (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  assert.deepEqual(failure(await refusedConnection(url, 5_000)), [14, 'unsent']);
});

test('a connection that falls silent during a call is given up', async (context) => {
  const url = await rawServer(context, (socket) => socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]))); // SETTINGS
  const connection = await connectTo(context, url, 50);
  const error = await connection.unary(method, question, { timeoutMs: 20_000 }).catch((error: GrpcError) => error);
  assert.deepEqual(failure(error as GrpcError), [14, 'lost']);
  assert.equal(connection.usable, false);
});

test('a quiet connection that answers pings is kept', async (context) => {
  const server = await scriptedServer(context, (call) => setTimeout(() => call.answer(Buffer.from('slow')), 400));
  const connection = await connectTo(context, server.url, 50);
  assert.equal((await connection.unary(method, question, { timeoutMs: 20_000 })).toString(), 'slow');
});

test('a connection may be destroyed by one who is being handed an answer', async (context) => {
  const server = await scriptedServer(context, (call) => call.answer(Buffer.from('first')));
  const connection = await connectTo(context, server.url, 5_000);
  const ended = Promise.withResolvers<GrpcError | undefined>();
  const other = connection.stream(method, {}, { onMessage: () => {}, onEnd: () => {} });
  connection
    .stream(method, {}, { onMessage: () => connection.destroy(), onEnd: (error) => ended.resolve(error) })
    .end(question);
  assert.equal((await ended.promise)?.fate, 'lost');
  assert.equal(connection.usable, false);
  other.write(question);
  assert.throws(() => connection.stream(method, {}, { onMessage: () => {}, onEnd: () => {} }), { fate: 'unsent' });
});
