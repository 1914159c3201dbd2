/** Requests over real connections to the port of a tenant that another API server serves. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { connect } from 'node:tls';
import { startRemote } from '../../aggregation/testing/remote.ts';
import type { Remote, RemoteOptions } from '../../aggregation/testing/remote.ts';
import { tenants } from '../../testing/tenancy-server.ts';
import { ask, host, PortedServer } from '../ports/testing.ts';
import type { PortedTenant } from '../ports/testing.ts';

const things = '/api/v1/namespaces/default/things';
const smuggled = `GET ${things}/smuggled HTTP/1.1\r\nHost: a\r\nX-Remote-User: evil\r\n\r\n`;

interface Both extends AsyncDisposable {
  readonly red: PortedTenant;
  readonly remote: Remote;
}

async function both(options: Pick<RemoteOptions, 'answer' | 'upgrade'>): Promise<Both> {
  await using opened = new AsyncDisposableStack();
  const ported = opened.use(await PortedServer.open());
  const red = await ported.make('red');
  const { server } = ported;
  const { status } = await server.expect(201, 'POST', `${tenants}/red/keys`);
  const clientCa = status.frontProxyAuthority.certificate as string;
  const remote = opened.use(await startRemote({ group: 'things.example.com', clientCa, ...options }));
  const spec = { server: `https://localhost:${remote.port}`, ca: remote.ca, serverName: 'things.default.svc' };
  await server.expect(201, 'POST', `${tenants}/red/hold?id=m`);
  await server.expect(201, 'POST', `${tenants}/red/remote?id=m`, { body: { spec } });
  const moved = opened.move();
  return { red, remote, [Symbol.asyncDispose]: () => moved.disposeAsync() };
}

const open = ({ port, ca, admin }: PortedTenant) =>
  connect({ host, port, ca, ...admin, servername: '', ALPNProtocols: ['http/1.1'] });

/** Returns everything received on a dedicated connection. */
async function raw(red: PortedTenant, text: string): Promise<string> {
  const socket = open(red);
  socket.write(text);
  return (await socket.toArray()).join('');
}

const head = (method: string, ...lines: string[]): string =>
  [`${method} ${things} HTTP/1.1`, 'Host: a', ...lines, '', ''].join('\r\n');

test('the port of a tenant passes requests on as the user of the certificate', async () => {
  await using opened = await both({ answer: (_, response) => response.end('{}') });
  const { red, remote } = opened;
  const { status } = await ask(red, things, { ...red.admin, headers: { 'X-Remote-User': 'evil' } });
  assert.equal(status, 200);
  const [seen] = remote.requests;
  assert.equal(seen!.headers['x-remote-user'], 'admin');
  assert.equal(seen!.peer, 'front-proxy-client');
});

test('a body cannot contain a request of this server', async () => {
  await using opened = await both({ answer: ({ body }, response) => response.end(body) });
  const { red, remote } = opened;
  for (const method of ['POST', 'GET']) {
    const lines = ['Connection: close, content-length', `Content-Length: ${smuggled.length}`];
    assert.match(await raw(red, head(method, ...lines) + smuggled), /^HTTP\/1\.1 200 /, method);
  }
  assert.deepEqual(
    remote.requests.map(({ url, headers, body }) => [url, headers['x-remote-user'], body]),
    [
      [things, 'admin', smuggled],
      [things, 'admin', smuggled],
    ],
  );
});

test('an upgraded connection carries both directions, is not reused, and has no body in its request', async () => {
  await using opened = await both({
    answer: (_, response) => response.end('{}'),
    upgrade: (socket) => void socket.on('data', (bytes: Buffer) => void socket.write(`echo ${bytes}`)),
  });
  const { red, remote } = opened;
  const upgrading = ['Connection: Upgrade', 'Upgrade: websocket'];
  assert.match(await raw(red, head('GET', ...upgrading, 'Content-Length: 5')), /^HTTP\/1\.1 400 /);
  const socket = open(red);
  socket.write(head('GET', ...upgrading));
  const [first] = (await once(socket, 'data')) as [Buffer];
  assert.match(first.toString(), /^HTTP\/1\.1 101 /);
  socket.write('hello');
  const [second] = (await once(socket, 'data')) as [Buffer];
  assert.equal(second.toString(), 'echo hello');
  socket.destroy();
  assert.equal(remote.requests.at(-1)!.headers['x-remote-user'], 'admin');
  assert.equal((await ask(red, things, red.admin)).status, 200);
});
