/** Tests request smuggling: the other server must never read data of a client as a request of this server. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { connect } from 'node:tls';
import { startHub } from './testing/hub.ts';
import type { Hub } from './testing/hub.ts';
import { startRemote } from './testing/remote.ts';
import type { Remote, RemoteOptions } from './testing/remote.ts';

const group = 'things.example.com';
const things = `/apis/${group}/v1/namespaces/default/things`;
const smuggled = `GET ${things}/smuggled HTTP/1.1\r\nHost: a\r\nX-Remote-User: evil\r\n\r\n`;

async function behind(answer: RemoteOptions['answer']): Promise<AsyncDisposable & { hub: Hub; remote: Remote }> {
  await using opened = new AsyncDisposableStack();
  const hub = opened.use(await startHub());
  const remote = opened.use(await startRemote({ group, clientCa: hub.frontProxyCa.certificate, answer }));
  await hub.register(group, remote.port, remote.ca);
  await hub.until('available', async () => (await hub.condition(group))?.status === 'True');
  const both = opened.move();
  return { hub, remote, [Symbol.asyncDispose]: () => both.disposeAsync() };
}

/** Returns everything received on a dedicated connection. */
async function raw(hub: Hub, text: string): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port: hub.port, ca: hub.access.ca!, ALPNProtocols: ['http/1.1'] });
  socket.write(text);
  return (await socket.toArray()).join('');
}

const head = (method: string, ...lines: string[]): string =>
  [`${method} ${things} HTTP/1.1`, 'Host: a', 'Authorization: Bearer admin', ...lines, '', ''].join('\r\n');

const upgrading = ['Connection: Upgrade', 'Upgrade: websocket'];

test('who wants another protocol has no body', async () => {
  await using both = await behind((_, response) => response.end());
  const { hub, remote } = both;
  for (const length of ['Content-Length: 500', 'Transfer-Encoding: chunked']) {
    assert.match(await raw(hub, head('GET', ...upgrading, length)), /^HTTP\/1\.1 400 /, length);
  }
  assert.equal(remote.requests.length, 0);
  // As kubectl exec sends it.
  assert.match(await raw(hub, head('POST', ...upgrading, 'Content-Length: 0')), /^HTTP\/1\.1 200 /);
  assert.equal(remote.requests.length, 1);
});

test('a connection on which another protocol was refused is not reused', async () => {
  const sockets: Socket[] = [];
  await using both = await behind((_, response) => {
    sockets.push(response.socket!);
    response.end('ordinary');
  });
  const { hub } = both;
  await hub.request('GET', things);
  assert.match(await raw(hub, head('GET', ...upgrading)), /^HTTP\/1\.1 200 [^]*ordinary/);
  await hub.request('GET', things);
  const [first, alone, last] = sockets;
  assert.ok(first === last && alone !== first);
  if (!alone!.destroyed) await once(alone!, 'close');
});

test('a length that is said to be of this connection only is said again', async () => {
  await using both = await behind(({ body }, response) => response.end(body));
  const { hub, remote } = both;
  const lines = ['Connection: close, content-length', `Content-Length: ${smuggled.length}`];
  const answer = await raw(hub, head('GET', ...lines) + smuggled);
  assert.match(answer, /^HTTP\/1\.1 200 [^]*X-Remote-User: evil/);
  assert.deepEqual(
    remote.requests.map(({ url, headers }) => [url, headers['x-remote-user'], headers['content-length']]),
    [[things, 'admin', String(smuggled.length)]],
  );
});

for (const [what, length] of [
  ['longer', 5],
  ['shorter', 500],
] as const) {
  test(`a body over HTTP/2 that is ${what} than it was said to be is not handed on`, async () => {
    await using both = await behind((_, response) => response.end());
    const { hub, remote } = both;
    const session = connectHttp2(`https://127.0.0.1:${hub.port}`, { ca: hub.access.ca! });
    try {
      const authorization = 'Bearer admin';
      const asked = { ':method': 'POST', ':path': things, authorization, 'content-length': String(length) };
      const stream = session.request(asked);
      stream.end(`aaaaa${smuggled}`);
      await assert.rejects(once(stream, 'response'), /PROTOCOL_ERROR/);
    } finally {
      session.destroy();
    }
    await hub.request('GET', `${things}/next`);
    assert.deepEqual(
      remote.requests.map(({ url }) => url),
      [`${things}/next`],
    );
  });
}

test('only what changes nothing is asked again when a kept connection breaks', async () => {
  const seen: string[] = [];
  await using both = await behind(({ method }, response) => {
    seen.push(method);
    const isFirst = seen.filter((one) => one === method).length === 1;
    if (isFirst && method !== 'PUT') response.socket!.destroy();
    else response.end();
  });
  const { hub } = both;
  const asked = async (method: string): Promise<number> => {
    // Leaves a kept connection in the pool.
    await hub.request('PUT', things);
    return (await hub.request(method, things)).status;
  };
  assert.deepEqual([await asked('GET'), await asked('DELETE'), await asked('POST')], [200, 503, 503]);
  assert.equal(seen.filter((one) => one !== 'PUT').join(), 'GET,GET,DELETE,POST');
});
