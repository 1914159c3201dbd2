import assert from 'node:assert/strict';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { proxyFor } from './proxy.ts';
import { serverAddress } from './server-address.ts';
import { get, http1Server, http2Server, plainServer, tcpServer, transportTo } from './testing/servers.ts';

describe('which proxy', () => {
  const proxy = 'http://proxy:3128';
  const cases: readonly (readonly [server: string, noProxy: string, isProxied: boolean])[] = [
    ['https://api.example.com', '', true],
    ['https://api.example.com', '*', false],
    ['https://api.example.com', 'example.com', false],
    ['https://example.com', 'example.com', false],
    ['https://example.com', '.example.com', true],
    ['https://api.example.com', '.example.com', false],
    ['https://api.example.com', '*.example.com', false],
    ['https://notexample.com', 'example.com', true],
    ['https://API.Example.com', 'other, api.example.COM ', false],
    ['https://api.example.com:6443', 'api.example.com:443', true],
    ['https://api.example.com:6443', 'api.example.com:6443', false],
    ['https://10.1.2.3:6443', '10.0.0.0/8', false],
    ['https://11.1.2.3:6443', '10.0.0.0/8', true],
    ['https://10.1.2.3', '10.1.2.3', false],
    ['https://[fd00::1]:6443', 'fd00::/8', false],
    ['https://[fd00::1]:6443', '[fd00::1]', false],
    ['https://10.1.2.3', '10.0.0.0/99,nonsense/8', true],
    ['https://localhost:6443', '', false],
    ['https://127.0.0.1:6443', '', false],
    ['https://[::1]:6443', '', false],
  ];
  for (const [server, noProxy, isProxied] of cases) {
    test(`${server} ${isProxied ? 'goes through' : 'does not go through'} it with NO_PROXY=${noProxy}`, () => {
      const found = proxyFor(serverAddress(server), undefined, { HTTPS_PROXY: proxy, NO_PROXY: noProxy });
      assert.equal(found?.host, isProxied ? 'proxy:3128' : undefined);
    });
  }

  test("the cluster's own is taken always, the environment's by the scheme, in capitals or not", () => {
    const address = serverAddress('https://localhost');
    assert.equal(proxyFor(address, 'socks5://own', { NO_PROXY: '*' })?.protocol, 'socks5:');
    assert.equal(proxyFor(serverAddress('https://a'), undefined, { https_proxy: 'b:1' })?.host, 'b:1');
    assert.equal(proxyFor(serverAddress('http://a'), undefined, { HTTPS_PROXY: 'http://b' }), undefined);
    assert.throws(() => proxyFor(address, 'ftp://own', {}), { code: 'InvalidKubeconfig' });
  });
});

const join = (one: Socket, other: Socket): void => {
  one.pipe(other).pipe(one);
  for (const socket of [one, other]) socket.on('error', () => {});
};

/** Records the CONNECT requests. */
async function connectProxy(context: TestContext, isAllowed = true): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const { port } = await tcpServer(context, (socket) =>
    socket.once('data', (head: Buffer) => {
      asked.push(head.toString());
      const [, host, target] = /^CONNECT (.*):(\d+) /.exec(head.toString()) ?? [];
      if (!isAllowed) return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      const onward = connect(Number(target), host);
      // In two chunks, as on a network.
      onward.once('connect', () => {
        socket.write('HTTP/1.1 200 Conn');
        setTimeout(() => {
          socket.write('ection established\r\n\r\n');
          join(socket, onward);
        }, 5);
      });
    }),
  );
  return { url: `http://user:pass%20word@127.0.0.1:${port}`, asked };
}

test('a server is reached through CONNECT, whatever is spoken with it', async (context) => {
  const servers = [
    await http2Server(context, (stream) => (stream.respond({ ':status': 200 }), void stream.end('ok'))),
    await http1Server(context, (_request, response) => response.end('ok')),
    await plainServer(context, (_request, response) => response.end('ok')),
  ];
  const { url, asked } = await connectProxy(context);
  for (const { config } of servers) {
    const answer = await transportTo(context, { ...config, proxyUrl: url }).request(get);
    assert.equal((await answer.body()).toString(), 'ok');
  }
  assert.equal(asked.length, 3);
  assert.match(asked[0]!, /^CONNECT 127.0.0.1:\d+ HTTP\/1.1\r\nhost: 127.0.0.1:\d+\r\nproxy-authorization: Basic /);
  assert.equal(Buffer.from(/Basic (\S+)/.exec(asked[0]!)![1]!, 'base64').toString(), 'user:pass word');
});

test('a proxy that refuses, breaks off or never ends is ConnectionFailed', async (context) => {
  const { config } = await http1Server(context, (_request, response) => response.end('ok'));
  const refusing = await connectProxy(context, false);
  const ask = (proxyUrl: string) =>
    transportTo(context, { ...config, proxyUrl }, { connectTimeoutMs: 500 }).request(get);
  // Only the code, without the text of the proxy.
  await assert.rejects(ask(refusing.url), { code: 'ConnectionFailed', message: /: 407$/ });
  const ending = await tcpServer(context, (socket) => socket.end());
  await assert.rejects(ask(`http://127.0.0.1:${ending.port}`), { code: 'ConnectionFailed' });
  const silent = await tcpServer(context, () => {});
  await assert.rejects(ask(`http://127.0.0.1:${silent.port}`), { code: 'ConnectionFailed', message: /within 500 ms/ });
  const endless = await tcpServer(context, (socket) => void socket.write('x'.repeat(100_000)));
  await assert.rejects(ask(`http://127.0.0.1:${endless.port}`), { code: 'ConnectionFailed' });
});

test('a server is reached through SOCKS 5, with a name and password', async (context) => {
  const { config } = await http1Server(context, (_request, response) => response.end('ok'));
  const { port } = await tcpServer(context, (socket) => {
    const steps: ((data: Buffer) => void)[] = [
      (data) => {
        assert.deepEqual([...data], [5, 1, 2]);
        socket.write(Buffer.from([5, 2]));
      },
      (data) => {
        assert.equal(data.toString('latin1'), '\x01\x04user\x04word');
        socket.write(Buffer.from([1, 0]));
      },
      (data) => {
        const onward = connect(data.readUInt16BE(data.length - 2), data.toString('latin1', 5, data.length - 2));
        onward.once('connect', () => {
          socket.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]));
          join(socket, onward);
        });
      },
    ];
    socket.on('data', function onData(data: Buffer) {
      steps.shift()?.(data);
      if (steps.length === 0) socket.off('data', onData);
    });
  });
  const proxyUrl = `socks5://user:word@127.0.0.1:${port}`;
  assert.equal((await transportTo(context, { ...config, proxyUrl }).request(get)).status, 200);
});

test('a name, password or host that SOCKS 5 has no room for is refused before anything is said', async (context) => {
  let said = 0;
  const { port } = await tcpServer(context, (socket) => socket.on('data', () => said++));
  const long = 'x'.repeat(256);
  const cases = [
    { proxyUrl: `socks5://${long}:word@127.0.0.1:${port}`, server: 'https://127.0.0.1:1' },
    { proxyUrl: `socks5://user:${long}@127.0.0.1:${port}`, server: 'https://127.0.0.1:1' },
    { proxyUrl: `socks5://127.0.0.1:${port}`, server: `https://${long}:1` },
  ];
  for (const config of cases) {
    const asked = transportTo(context, config).request(get);
    await assert.rejects(asked, { code: 'ConnectionFailed', message: /longer than 255 bytes/ });
  }
  assert.equal(said, 0);
});

test('what is no proxy is refused without its password', () => {
  const address = serverAddress('https://example.com');
  for (const url of ['ftp://user:hunter2@proxy', 'http://user:hunter2@', 'user:hunter2']) {
    const isSilent = (error: Error) =>
      /is not the URL of an http, https or socks5 proxy/.test(error.message) && !error.message.includes('hunter2');
    assert.throws(() => proxyFor(address, url, {}), isSilent, url);
    assert.throws(() => proxyFor(address, undefined, { HTTPS_PROXY: url }), isSilent, url);
  }
});
