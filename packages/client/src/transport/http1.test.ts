import assert from 'node:assert/strict';
import { test } from 'node:test';
import { get, http1Server, plainServer, tcpServer, transportTo, until } from './testing/servers.ts';

const watch = { method: 'GET', target: '/watch', isLong: true } as const;

test('connections are kept, and bounded, and watches are not counted', async (context) => {
  const { config, sockets } = await http1Server(context, (request, response) => {
    if (request.url === '/watch') response.writeHead(200).flushHeaders();
    else setTimeout(() => response.end('ok'), 5);
  });
  const transport = transportTo(context, config, { http1ConnectionsMax: 4 });
  await Promise.all(Array.from({ length: 10 }, () => transport.request(watch)));
  assert.equal(sockets.length, 10);
  for (let round = 0; round < 3; round++) {
    const answers = Array.from({ length: 40 }, async () => (await (await transport.request(get)).body()).toString());
    assert.deepEqual(new Set(await Promise.all(answers)), new Set(['ok']));
  }
  assert.ok(sockets.length <= 14, `${sockets.length} connections`);
});

test('a connection that was kept too long costs a read nothing, and a write an error that says so', async (context) => {
  let served = 0;
  const { config, sockets } = await plainServer(context, (_request, response) => {
    served++;
    response.end('ok');
  });
  const transport = transportTo(context, config);
  for (const method of ['GET', 'POST']) {
    await (await transport.request(get)).body();
    const before = served;
    // Acts as a server that closes while the next request is on its way.
    const last = sockets.at(-1)!;
    last.removeAllListeners('data');
    last.pause();
    const asked = transport.request({ method, target: '/' });
    setTimeout(() => last.resetAndDestroy(), 20);
    if (method === 'GET') {
      await (await asked).body();
      assert.equal(served, before + 1);
    } else await assert.rejects(asked, { code: 'ConnectionLost' });
  }
});

test('what is no HTTP is MalformedAnswer, what ends at once ConnectionLost, what is refused ConnectionFailed', async (context) => {
  const garbage = await tcpServer(context, (socket) => socket.once('data', () => socket.end('\0\x01garbage\r\n\r\n')));
  const silent = await tcpServer(context, (socket) => socket.once('data', () => socket.destroy()));
  const ask = (port: number) => transportTo(context, { server: `http://127.0.0.1:${port}` }).request(get);
  await assert.rejects(ask(garbage.port), { code: 'MalformedAnswer' });
  await assert.rejects(ask(silent.port), { code: 'ConnectionLost' });
  await assert.rejects(ask(1), { code: 'ConnectionFailed', message: /connection refused/ });
});

test('a body that is shorter than was said is ConnectionLost', async (context) => {
  const { port } = await tcpServer(context, (socket) =>
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf')),
  );
  const transport = transportTo(context, { server: `http://127.0.0.1:${port}` });
  const answer = await transport.request(get);
  await assert.rejects(answer.body(), { code: 'ConnectionLost' });
});

test('interim answers are passed over, and repeated headers are joined', async (context) => {
  const { config } = await plainServer(context, (_request, response) => {
    response.writeProcessing();
    response.writeEarlyHints({ link: '</a>; rel=preload' });
    response.writeHead(200, [
      ['warning', '299 - "one"'],
      ['warning', '299 - "two"'],
    ] as never);
    response.end('ok');
  });
  const answer = await transportTo(context, config).request(get);
  assert.equal(answer.status, 200);
  assert.equal(answer.header('warning'), '299 - "one", 299 - "two"');
  assert.equal((await answer.body()).toString(), 'ok');
});

test('closing ends connections that nobody uses', async (context) => {
  const { config, sockets } = await plainServer(context, (_request, response) => response.end('ok'));
  const transport = transportTo(context, config);
  await (await transport.request(get)).body();
  await transport.close();
  await until(() => sockets.every(({ destroyed }) => destroyed));
});
