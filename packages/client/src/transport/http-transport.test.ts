import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Credentials } from '../config/cluster-config.ts';
import type { HttpAnswer } from './contract.ts';
import { get, http1Server, http2Server, plainServer, tcpServer, transportTo, until } from './testing/servers.ts';

const text = async (answer: HttpAnswer | Promise<HttpAnswer>): Promise<string> =>
  (await (await answer).body()).toString();

test('HTTP/2 is spoken where the server speaks it', async (context) => {
  const { config } = await http2Server(context, (stream) => {
    stream.respond({ ':status': 200 });
    stream.end('two');
  });
  assert.equal(await text(transportTo(context, config).request(get)), 'two');
});

test('HTTP/1.1 is spoken where the server speaks nothing else, with and without TLS', async (context) => {
  for (const start of [http1Server, plainServer]) {
    const { config } = await start(context, (request, response) => response.end(`one ${request.httpVersion}`));
    assert.equal(await text(transportTo(context, config).request(get)), 'one 1.1');
  }
});

test('what is asked has the path of the cluster, who asks and whom they act as', async (context) => {
  const impersonate = { user: 'jane', groups: ['a,b', 'c'], uid: '7', extra: { 'Scopes/of': ['x', 'y'] } };
  const credentials = { headers: () => Promise.resolve({ authorization: 'Bearer secret' }) };
  const seen: Record<string, unknown>[] = [];
  const servers = [
    await http2Server(context, (stream, headers) => {
      seen.push({ ...headers, url: headers[':path'] });
      stream.respond({ ':status': 200 });
      stream.end();
    }),
    await http1Server(context, (request, response) => {
      seen.push({ ...request.headersDistinct, url: request.url, authorization: request.headers.authorization });
      response.end();
    }),
  ];
  for (const { config } of servers) {
    const server = `${config.server}/clusters/x/control-plane/`;
    const transport = transportTo(context, { ...config, server, impersonate, credentials });
    await text(transport.request({ method: 'GET', target: '/version?a=b' }));
  }
  for (const one of seen) {
    assert.equal(one['url'], '/clusters/x/control-plane/version?a=b');
    assert.equal(one['authorization'], 'Bearer secret');
    assert.equal(String(one['impersonate-user']), 'jane');
    assert.equal(String(one['impersonate-uid']), '7');
  }
  assert.deepEqual(seen[1]!['impersonate-group'], ['a,b', 'c']);
  assert.deepEqual(seen[1]!['impersonate-extra-scopes%2fof'], ['x', 'y']);
});

describe('by either protocol', () => {
  const large = Buffer.alloc(3_000_000, 'abcdefg');
  const starts = {
    'HTTP/2': (context: Parameters<typeof http2Server>[0], onRequest: (respond: Respond) => void) =>
      http2Server(context, (stream, headers) => {
        const body: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => body.push(chunk));
        stream.on('end', () =>
          onRequest({
            path: headers[':path']!,
            headers,
            body: () => Buffer.concat(body),
            head: (status, more = {}) => stream.respond({ ':status': status, ...more }),
            write: (chunk) => stream.write(chunk),
            onDrain: (callback) => void stream.once('drain', callback),
            end: (chunk) => stream.end(chunk),
            cut: () => stream.session?.destroy(),
            onClose: (callback) => void stream.once('close', callback),
          }),
        );
      }),
    'HTTP/1.1': (context: Parameters<typeof http1Server>[0], onRequest: (respond: Respond) => void) =>
      http1Server(context, (request, response) => {
        const body: Buffer[] = [];
        request.on('data', (chunk: Buffer) => body.push(chunk));
        request.on('end', () =>
          onRequest({
            path: request.url!,
            headers: request.headers as Record<string, string>,
            body: () => Buffer.concat(body),
            head: (status, more = {}) => response.writeHead(status, more).flushHeaders(),
            write: (chunk) => response.write(chunk),
            onDrain: (callback) => void response.once('drain', callback),
            end: (chunk) => response.end(chunk),
            cut: () => response.socket?.destroy(),
            onClose: (callback) => void response.once('close', callback),
          }),
        );
      }),
  };

  interface Respond {
    readonly path: string;
    readonly headers: Readonly<Record<string, string | undefined>>;
    body(): Buffer;
    head(status: number, headers?: Record<string, string>): void;
    write(chunk: Uint8Array | string): boolean;
    onDrain(callback: () => void): void;
    end(chunk?: Uint8Array | string): void;
    cut(): void;
    onClose(callback: () => void): void;
  }

  for (const [protocol, start] of Object.entries(starts)) {
    test(`${protocol}: large bodies go and come whole, many at a time`, async (context) => {
      const { config } = await start(context, (respond) => {
        respond.head(200);
        respond.end(respond.body());
      });
      const transport = transportTo(context, config);
      const asked = Array.from({ length: 4 }, () => transport.request({ method: 'POST', target: '/', body: large }));
      for (const answer of await Promise.all(asked)) assert.ok((await answer.body()).equals(large));
    });

    test(`${protocol}: what was compressed is given as it was, at once or in pieces`, async (context) => {
      const { config } = await start(context, (respond) => {
        assert.equal(respond.headers['accept-encoding'], respond.path === '/plain' ? undefined : 'gzip');
        if (respond.path === '/bad') {
          respond.head(200, { 'content-encoding': 'gzip' });
          return respond.end('this is not it');
        }
        const isPlain = respond.path === '/plain';
        respond.head(200, isPlain ? {} : { 'content-encoding': 'gzip' });
        respond.end(isPlain ? large : gzipSync(large));
      });
      const transport = transportTo(context, config);
      assert.ok((await (await transport.request(get)).body()).equals(large));
      const pieces: Uint8Array[] = [];
      for await (const piece of (await transport.request(get)).stream()) pieces.push(piece);
      assert.ok(Buffer.concat(pieces).equals(large));
      await assert.rejects(text(transport.request({ ...get, target: '/bad' })), { code: 'MalformedAnswer' });
      const plain = transportTo(context, { ...config, disableCompression: true });
      assert.ok((await (await plain.request({ ...get, target: '/plain' })).body()).equals(large));
    });

    test(`${protocol}: a signal ends a request wherever it is, and is let go of`, async (context) => {
      let arrived = 0;
      let closed = 0;
      const { config } = await start(context, (respond) => {
        arrived++;
        respond.onClose(() => closed++);
        if (respond.path === '/head') return;
        respond.head(200);
        respond.write('a piece');
        if (respond.path === '/whole') respond.end();
      });
      const transport = transportTo(context, config);
      for (const target of ['/head', '/body', '/stream']) {
        const stopping = new AbortController();
        const { signal } = stopping;
        const asked = transport.request({ method: 'GET', target, signal });
        if (target === '/head') {
          await until(() => arrived === 1);
          stopping.abort();
          await assert.rejects(asked, { code: 'Aborted' });
        } else {
          const answer = await asked;
          const reading =
            target === '/body' ? answer.body() : Array.fromAsync(answer.stream() as AsyncIterable<Uint8Array>);
          stopping.abort();
          await assert.rejects(reading, { code: 'Aborted' });
        }
        assert.equal(getEventListeners(signal, 'abort').length, 0);
      }
      await until(() => closed === 3);
      const { signal } = new AbortController();
      await text(transport.request({ method: 'GET', target: '/whole', signal }));
      assert.equal(getEventListeners(signal, 'abort').length, 0);
      await assert.rejects(transport.request({ ...get, signal: AbortSignal.abort() }), { code: 'Aborted' });
    });

    test(`${protocol}: leaving the loop ends the request on the server`, async (context) => {
      const left = Promise.withResolvers<void>();
      const { config } = await start(context, (respond) => {
        respond.onClose(left.resolve);
        respond.head(200);
        respond.write('first');
      });
      const answer = await transportTo(context, config).request({ ...get, isLong: true });
      for await (const chunk of answer.stream()) {
        assert.equal(Buffer.from(chunk).toString(), 'first');
        break;
      }
      await left.promise;
    });

    test(`${protocol}: an answer that breaks off is ConnectionLost, after what has come of it`, async (context) => {
      const { config } = await start(context, (respond) => {
        respond.head(200);
        respond.write('some');
        setTimeout(() => respond.cut(), 20);
      });
      const transport = transportTo(context, config);
      const chunks = (await transport.request(get)).stream()[Symbol.asyncIterator]();
      assert.equal(Buffer.from((await chunks.next()).value).toString(), 'some');
      await assert.rejects(async () => chunks.next(), { code: 'ConnectionLost' });
      await assert.rejects(text(transport.request(get)), { code: 'ConnectionLost' });
    });

    test(`${protocol}: a server that says nothing is TimedOut, a reader who takes its time is not`, async (context) => {
      const { config } = await start(context, (respond) => {
        if (respond.path === '/silent') return;
        respond.head(200);
        respond.write('some');
        if (respond.path === '/then-silent') return;
        setTimeout(() => respond.end('more'), 10);
      });
      const transport = transportTo(context, config);
      const silenceMs = 150;
      await assert.rejects(transport.request({ ...get, target: '/silent', silenceMs }), { code: 'TimedOut' });
      await assert.rejects(text(transport.request({ ...get, target: '/then-silent', silenceMs })), {
        code: 'TimedOut',
      });
      const chunks = (await transport.request({ ...get, silenceMs })).stream()[Symbol.asyncIterator]();
      await chunks.next();
      await new Promise((resolve) => setTimeout(resolve, 3 * silenceMs));
      assert.equal(Buffer.from((await chunks.next()).value).toString(), 'more');
      assert.equal((await chunks.next()).done, true);
    });

    test(`${protocol}: a reader who does not read holds up the server, and nobody else`, async (context) => {
      const [piece, pieces] = [Buffer.alloc(256 * 1024), 256];
      let written = 0;
      let stalledMs = 0;
      const { config } = await start(context, (respond) => {
        respond.head(200);
        if (respond.path === '/short') return respond.end('short');
        const pump = (): void => {
          stalledMs = 0;
          while (written < pieces) {
            written++;
            if (respond.write(piece)) continue;
            stalledMs = performance.now();
            return respond.onDrain(pump);
          }
          respond.end();
        };
        pump();
      });
      const transport = transportTo(context, config);
      const answer = await transport.request({ ...get, target: '/long', isLong: true });
      await until(() => stalledMs > 0 && performance.now() - stalledMs > 200);
      // Its window here, and the buffers of the system.
      assert.ok(written * piece.length < 16 * 1024 * 1024, `${written} pieces`);
      assert.equal(await text(transport.request({ ...get, target: '/short' })), 'short');
      let read = 0;
      for await (const chunk of answer.stream()) read += chunk.length;
      assert.equal(read, pieces * piece.length);
    });

    test(`${protocol}: after a 401 new credentials are had once, for all who were refused`, async (context) => {
      let token = 'old';
      let refreshes = 0;
      const { config } = await start(context, (respond) => {
        respond.head(respond.headers['authorization'] === 'Bearer new' ? 200 : 401);
        respond.end('the body');
      });
      const credentials: Credentials = {
        headers: () => ({ authorization: `Bearer ${token}` }),
        async refresh() {
          refreshes++;
          await new Promise((resolve) => setTimeout(resolve, 20));
          token = 'new';
          return true;
        },
      };
      const transport = transportTo(context, { ...config, credentials });
      const answers = await Promise.all(Array.from({ length: 20 }, () => transport.request(get)));
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
      for (const answer of answers) await answer.body();
      assert.equal(refreshes, 1);
      token = 'gone';
      const hopeless = transportTo(context, {
        ...config,
        credentials: { ...credentials, refresh: () => Promise.resolve(false) },
      });
      const refused = await hopeless.request(get);
      assert.equal(refused.status, 401);
      assert.equal(await text(refused), 'the body');
    });

    test(`${protocol}: a client that was closed ends what is under way and begins nothing`, async (context) => {
      const { config } = await start(context, (respond) => {
        respond.head(200);
        respond.write('a piece');
      });
      const transport = transportTo(context, config);
      const reading = (await transport.request({ ...get, isLong: true })).body();
      await transport.close();
      await assert.rejects(reading, { code: 'ConnectionLost' });
      await assert.rejects(transport.request(get), { code: 'ConnectionFailed' });
      await transport.close();
    });
  }
});

test('a request that waits for a connection ends by its signal, and by closing', async (context) => {
  const { config } = await tcpServer(context, () => {});
  const transport = transportTo(context, config);
  const stopping = new AbortController();
  const [one, other] = [transport.request({ ...get, signal: stopping.signal }), transport.request(get)];
  stopping.abort();
  await assert.rejects(one, { code: 'Aborted' });
  assert.equal(getEventListeners(stopping.signal, 'abort').length, 0);
  const closing = transport.close();
  await assert.rejects(other, { code: 'ConnectionFailed' });
  await closing;
});
