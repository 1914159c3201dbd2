import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpsRequest, Agent } from 'node:https';
import { connect as connectHttp2 } from 'node:http2';
import type { ClientHttp2Session } from 'node:http2';
import { connect as connectTls } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { after, before, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { StatusError } from '@hangar/api';
import { seededRandom, systemClock, systemRandom } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import { createAuthority, issueCertificate } from '@hangar/pki';
import type { KeyPair } from '@hangar/pki';
import { listen } from './listener.ts';
import type { Listener } from './listener.ts';
import type { Answer, ServerRequest, Sink } from './message.ts';

const world = { clock: systemClock, random: systemRandom };
const day = { days: 1 };
let authority: KeyPair;
let strangers: KeyPair;
let serverPair: KeyPair;
before(() => {
  authority = createAuthority('ours', 1, world);
  strangers = createAuthority('ours', 1, world);
  serverPair = issueCertificate(
    authority,
    { commonName: 's', usage: 'server', hosts: ['localhost', '127.0.0.1'], ...day },
    world,
  );
});

const text = (body: string, status = 200): Answer => ({
  status,
  headers: { 'content-type': 'text/plain' },
  body: Buffer.from(body),
});
const bytesMax = 100_000;
const problems: Error[] = [];
const asked: string[] = [];
const sinks: Sink[] = [];
const gone: string[] = [];
const closed: string[] = [];
const mebibyte = Buffer.alloc(1024 * 1024, 0x61);

/** Handler of the tests; the path selects the response. */
async function handler(request: ServerRequest): Promise<Answer> {
  asked.push(request.target);
  try {
    switch (request.target.split('?')[0]) {
      case '/echo':
        return text(Buffer.from(await request.body(bytesMax)).toString());
      case '/length':
        return text(String((await request.body(bytesMax)).length));
      case '/who': {
        const { certificate } = request.peer;
        return text(certificate ? `${certificate.commonName} ${certificate.organizations.join('+')}` : 'nobody');
      }
      case '/long':
        return { status: 200, headers: {}, body: Array.from({ length: 300 }, () => Buffer.alloc(1_000, 0x61)) };
      case '/huge':
        request.passing!.onGone!(() => gone.push('/huge'));
        return { status: 200, headers: {}, body: Array.from({ length: 40 }, () => mebibyte) };
      case '/flood':
        request.passing!.onGone!(() => gone.push('/flood'));
        return {
          status: 200,
          headers: {},
          body: {
            start: (sink) => {
              for (let at = 0; at < 40; at++) sink.write(mebibyte);
              sink.end();
            },
          },
        };
      case '/nothing':
        return { status: 304, headers: { etag: '"x"' }, body: [] };
      case '/refuse':
        return text('no', 401);
      case '/broken':
        throw new TypeError('a bug');
      case '/unwritable':
        return { status: 200, headers: { 'x-bad': 'a\nb' }, body: Buffer.from('x') };
      case '/watch':
      case '/list':
        return {
          status: 200,
          headers: {},
          body: {
            isFinite: request.target === '/list',
            start: (sink) => {
              sinks.push(sink);
              sink.onClose(() => closed.push(request.method));
              sink.write(Buffer.from('first\n'));
            },
          },
        };
      default:
        return text(`${request.method} ${request.target} ${request.header('x-test') ?? ''}`.trim());
    }
  } catch (error) {
    if (error instanceof StatusError) return text(error.message, error.status.code);
    throw error;
  }
}

const start = (clock: Clock = systemClock): Promise<Listener> =>
  listen({
    host: '127.0.0.1',
    port: 0,
    key: serverPair.key,
    certificate: serverPair.certificate,
    clientCas: authority.certificate,
    clock,
    handler,
    onError: (error) => problems.push(error),
  });

let listener: Listener;
before(async () => void (listener = await start()));
after(() => listener.close());

const moment = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

/** Advances virtual time, and lets sockets work, until the promise settles. */
async function passing<T>(clock: Scheduler, promise: Promise<T>, stepMs = 5_000): Promise<T> {
  let isDone = false;
  const done = promise.finally(() => (isDone = true));
  done.catch(() => undefined);
  while (!isDone) {
    await clock.advance(stepMs);
    await moment();
  }
  return done;
}

interface Asked {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: Buffer;
}
interface Got {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: Buffer;
}
type Ask = (path: string, asked?: Asked) => Promise<Got>;

async function overHttp1(
  agent: Agent,
  port: number,
  path: string,
  { method = 'GET', headers = {}, body }: Asked = {},
): Promise<Got> {
  const request = httpsRequest({
    host: '127.0.0.1',
    port,
    path,
    method,
    agent,
    ca: authority.certificate,
    servername: 'localhost',
    headers,
  });
  request.end(body);
  const [response] = await once(request, 'response');
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece);
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(pieces) };
}

async function overHttp2(
  session: ClientHttp2Session,
  path: string,
  { method = 'GET', headers = {}, body }: Asked = {},
): Promise<Got> {
  const stream = session.request({ ':path': path, ':method': method, ...headers }, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  const closed = once(stream, 'close').then(() => Promise.reject(new Error('closed without an answer')));
  closed.catch(() => undefined);
  const [head] = await Promise.race([once(stream, 'response'), closed]);
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece);
  return { status: head[':status'], headers: head, body: Buffer.concat(pieces) };
}

const http2Session = (port: number, client?: KeyPair): ClientHttp2Session =>
  connectHttp2(`https://localhost:${port}`, {
    ca: authority.certificate,
    ...(client ? { cert: client.certificate, key: client.key } : {}),
  });

/** Runs each test over one connection of each protocol. */
function overBoth(name: string, body: (ask: Ask) => Promise<void>): void {
  test(`${name}, over HTTP/1.1`, async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    try {
      await body((path, asked) => overHttp1(agent, listener.port, path, asked));
    } finally {
      agent.destroy();
    }
  });
  test(`${name}, over HTTP/2`, async () => {
    const session = http2Session(listener.port);
    try {
      await body((path, asked) => overHttp2(session, path, asked));
    } finally {
      session.destroy();
    }
  });
}

overBoth('a request keeps its method, target and headers', async (ask) => {
  const got = await ask('/a%2Fb/../c?x=%20&y', { headers: { 'x-test': 'value' } });
  assert.equal(got.body.toString(), 'GET /a%2Fb/../c?x=%20&y value');
  assert.equal((await ask('/x', { method: 'DELETE' })).body.toString(), 'DELETE /x');
});

overBoth('bodies come whole, empty ones too', async (ask) => {
  const large = Buffer.alloc(bytesMax, 0x62);
  assert.deepEqual((await ask('/echo', { method: 'POST', body: large })).body, large);
  assert.equal((await ask('/length', { method: 'POST', body: Buffer.alloc(0) })).body.toString(), '0');
  assert.equal((await ask('/length', { method: 'POST' })).body.toString(), '0');
});

overBoth('a body over the bound is 413, and the connection serves the next request', async (ask) => {
  for (const length of [bytesMax + 1, 20 * bytesMax]) {
    const refused = await ask('/length', { method: 'POST', body: Buffer.alloc(length) });
    assert.equal(refused.status, 413);
    assert.match(refused.body.toString(), /limit is 100000/);
    assert.equal((await ask('/next')).body.toString(), 'GET /next');
  }
});

overBoth('a body that nobody reads is in nobody’s way', async (ask) => {
  const refused = await ask('/refuse', { method: 'POST', body: Buffer.alloc(bytesMax) });
  assert.equal(refused.status, 401);
  assert.equal((await ask('/next')).status, 200);
});

overBoth('HEAD is answered without a body', async (ask) => {
  const got = await ask('/long', { method: 'HEAD' });
  assert.deepEqual([got.status, got.body.length, got.headers['content-length']], [200, 0, '300000']);
  assert.equal((await ask('/nothing')).status, 304);
  assert.equal((await ask('/next')).status, 200);
});

overBoth('HEAD of an answer that goes on is its head, and leaves nothing open', async (ask) => {
  closed.length = 0;
  const got = await ask('/watch', { method: 'HEAD' });
  assert.deepEqual([got.status, got.body.length], [200, 0]);
  assert.deepEqual(closed, ['HEAD']);
});

overBoth('answers of many pieces come whole', async (ask) => {
  const { body } = await ask('/huge');
  assert.equal(body.length, 40 * mebibyte.length);
  assert.equal((await ask('/flood')).body.length, 40 * mebibyte.length);
});

overBoth('long answers are compressed for those who ask, short ones never', async (ask) => {
  const gzip = { headers: { 'accept-encoding': 'deflate, gzip' } };
  const long = await ask('/long', gzip);
  assert.equal(long.headers['content-encoding'], 'gzip');
  assert.equal(Number(long.headers['content-length']), long.body.length);
  assert.equal(gunzipSync(long.body).length, 300_000);
  assert.equal((await ask('/long')).headers['content-encoding'], undefined);
  assert.equal((await ask('/short', gzip)).headers['content-encoding'], undefined);
  for (const other of ['gzip;q=0', 'x-gzip', 'deflate', 'gzip-x, br']) {
    const got = await ask('/long', { headers: { 'accept-encoding': other } });
    assert.equal(got.headers['content-encoding'], undefined, other);
  }
});

overBoth('a bug in a handler costs its request, and nothing else', async (ask) => {
  const known = problems.length;
  await assert.rejects(ask('/broken'));
  assert.equal(problems.length, known + 1);
  assert.equal((await ask('/next')).status, 200);
  await assert.rejects(ask('/unwritable'));
  assert.equal((await ask('/next')).status, 200);
});

describe('a client certificate', () => {
  const who = async (client: KeyPair | undefined): Promise<string> => {
    const session = http2Session(listener.port, client);
    const agent = new Agent(client ? { cert: client.certificate, key: client.key } : {});
    try {
      const one = (await overHttp2(session, '/who')).body.toString();
      const other = (await overHttp1(agent, listener.port, '/who')).body.toString();
      assert.equal(one, other);
      return one;
    } finally {
      session.destroy();
      agent.destroy();
    }
  };
  const issued = (from: KeyPair, usage: 'client' | 'server', clock = systemClock): KeyPair =>
    issueCertificate(from, { commonName: 'jane', organizations: ['a', 'b'], usage, ...day }, { ...world, clock });

  test('of our authority is known by its name and groups', async () => {
    assert.equal(await who(issued(authority, 'client')), 'jane a+b');
  });

  test('of another authority of the same name, for servers, or expired is none', async () => {
    const past = { ...systemClock, now: () => Date.now() - 3 * 86_400_000 };
    assert.equal(await who(issued(strangers, 'client')), 'nobody');
    assert.equal(await who(issued(authority, 'server')), 'nobody');
    assert.equal(await who(issued(authority, 'client', past)), 'nobody');
    assert.equal(await who(undefined), 'nobody');
  });
});

describe('clients that do not behave', () => {
  const raw = async (port = listener.port): Promise<TLSSocket> => {
    const socket = connectTls({
      host: '127.0.0.1',
      port,
      ca: authority.certificate,
      servername: 'localhost',
      ALPNProtocols: ['http/1.1'],
    });
    socket.on('error', () => undefined);
    await once(socket, 'secureConnect');
    return socket;
  };
  const isAlive = async (): Promise<void> => {
    const agent = new Agent();
    assert.equal((await overHttp1(agent, listener.port, '/next')).status, 200);
    agent.destroy();
  };

  test('who leave in the middle of a head, a body, an answer or a watch', async () => {
    for (const begun of [
      'GET / HT',
      'POST /length HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc',
      'POST /length HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab',
      'GET /long HTTP/1.1\r\nHost: x\r\n\r\n',
      'GET /watch HTTP/1.1\r\nHost: x\r\n\r\n',
    ]) {
      const socket = await raw();
      socket.write(begun);
      await new Promise((resolve) => setTimeout(resolve, 5));
      socket.destroy();
    }
    await isAlive();
  });

  test('who never send the rest of a body are given a minute, and less when they were refused', async () => {
    const clock = new Scheduler(seededRandom(1));
    const own = await start(clock);
    const session = http2Session(own.port);
    const begin = async (path: string): Promise<{ socket: TLSSocket; got: () => string }> => {
      const socket = await raw(own.port);
      let text = '';
      socket.on('data', (piece: Buffer) => (text += piece.toString()));
      socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc`);
      return { socket, got: () => text };
    };
    try {
      const refused = await begin('/refuse');
      await once(refused.socket, 'data');
      assert.match(refused.got(), /^HTTP\/1\.1 401 /);
      await passing(clock, once(refused.socket, 'close'));
      asked.length = 0;
      const slow = await begin('/length');
      const stream = session.request({ ':path': '/length', ':method': 'POST' });
      stream.write('abc');
      while (asked.length < 2) await moment();
      const sinceMs = clock.monotonicMs();
      const [[head]] = await passing(clock, Promise.all([once(stream, 'response'), once(slow.socket, 'data')]));
      assert.ok(clock.monotonicMs() - sinceMs >= 60_000);
      assert.match(slow.got(), /^HTTP\/1\.1 504 /);
      assert.equal(head[':status'], 504);
      await passing(clock, Promise.all([once(slow.socket, 'close'), once(stream.resume(), 'close')]));
    } finally {
      session.destroy();
      await passing(clock, own.close());
    }
  });

  for (const target of ['/huge', '/flood']) {
    test(`who do not take an answer over HTTP/1.1 are given a minute: ${target}`, async () => {
      const clock = new Scheduler(seededRandom(1));
      const own = await start(clock);
      const socket = await raw(own.port);
      try {
        gone.length = 0;
        socket.pause();
        socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
        const left = (async () => {
          while (gone.length === 0) await moment();
        })();
        await passing(clock, left);
        assert.ok(clock.monotonicMs() >= 60_000);
      } finally {
        socket.destroy();
        await passing(clock, own.close());
      }
    });
  }

  test('who end their side after asking still get their answer', async () => {
    const socket = await raw();
    socket.write('POST /length HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc');
    let got = '';
    socket.on('data', (piece: Buffer) => (got += piece.toString()));
    await once(socket, 'end');
    assert.match(got, /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n3$/);
    socket.destroy();
  });

  test('who speak nonsense are told so and left', async () => {
    for (const nonsense of [
      'hello\r\n\r\n',
      'GET / HTTP/9.9\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n',
      `GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(100_000)}\r\n\r\n`,
      `GET /${'a'.repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
    ]) {
      const socket = await raw();
      let got = '';
      socket.on('data', (piece: Buffer) => (got += piece.toString()));
      socket.write(nonsense);
      await once(socket, 'close');
      assert.match(got, /^(HTTP\/1\.1 4\d\d |$)/, nonsense.slice(0, 40));
    }
    await isAlive();
  });

  test('who speak no TLS at all are left', async () => {
    const { connect } = await import('node:net');
    const socket = connect(listener.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    socket.resume();
    await once(socket, 'close');
    await isAlive();
  });

  test('who open streams and reset them at once', async () => {
    const session = http2Session(listener.port);
    for (let at = 0; at < 200; at++) {
      const stream = session.request({ ':path': '/length', ':method': 'POST' });
      stream.on('error', () => undefined);
      stream.write('x');
      stream.close(8);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
    session.destroy();
    await isAlive();
  });
});

describe('closing', () => {
  test('ends watches without breaking them, and waits for nothing else', async () => {
    const clock = new Scheduler(seededRandom(1));
    const own = await start(clock);
    const agents = [new Agent({ keepAlive: true }), new Agent({ keepAlive: true })];
    const session = http2Session(own.port);
    try {
      sinks.length = 0;
      const watches = [overHttp1(agents[0]!, own.port, '/watch'), overHttp2(session, '/watch')];
      while (sinks.length < 2) await moment();
      await overHttp1(agents[1]!, own.port, '/next');
      // No time passes, so the grace period cannot be the cause.
      await passing(clock, own.close(), 0);
      for (const { status, body } of await Promise.all(watches)) {
        assert.deepEqual([status, body.toString()], [200, 'first\n']);
      }
      await assert.rejects(overHttp1(new Agent(), own.port, '/next'));
    } finally {
      for (const agent of agents) agent.destroy();
      session.destroy();
    }
  });

  for (const isFinished of [true, false]) {
    test(`a long list that ${isFinished ? 'ends in time is sent whole' : 'does not end is broken off'}`, async () => {
      const clock = new Scheduler(seededRandom(1));
      const own = await start(clock);
      const agent = new Agent({ keepAlive: true });
      const session = http2Session(own.port);
      try {
        sinks.length = 0;
        const lists = [overHttp1(agent, own.port, '/list'), overHttp2(session, '/list')];
        const outcomes = Promise.allSettled(lists);
        while (sinks.length < 2) await moment();
        const closed = own.close();
        for (const sink of sinks) sink.write(Buffer.from('second\n'));
        if (isFinished) for (const sink of sinks) sink.end();
        await passing(clock, closed, isFinished ? 0 : 1_000);
        for (const outcome of await outcomes) {
          if (isFinished)
            assert.ok(outcome.status === 'fulfilled' && outcome.value.body.toString() === 'first\nsecond\n');
          else assert.equal(outcome.status, 'rejected');
        }
      } finally {
        agent.destroy();
        session.destroy();
      }
    });
  }

  test('waits for a request under way, and cuts off what does not end', async () => {
    const clock = new Scheduler(seededRandom(1));
    const own = await start(clock);
    const agent = new Agent();
    asked.length = 0;
    const cut = overHttp1(agent, own.port, '/length', { method: 'POST', headers: { 'content-length': '7' } });
    cut.catch(() => undefined);
    while (asked.length < 1) await moment();
    await passing(clock, own.close(), 1_000);
    await assert.rejects(cut);
    assert.ok(clock.monotonicMs() >= 2_000);
    agent.destroy();
  });

  test('a port that is in use is said so', async () => {
    const taken = listen({
      host: '127.0.0.1',
      port: listener.port,
      key: serverPair.key,
      certificate: serverPair.certificate,
      clientCas: authority.certificate,
      clock: systemClock,
      handler,
    });
    await assert.rejects(taken, { code: 'EADDRINUSE' });
  });
});
