import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { describe, test } from 'node:test';
import type { Peer } from '../../http/message.ts';
import { planePath, tenants, TenancyServer } from '../../testing/tenancy-server.ts';
import { configMap, configMaps } from '../../testing/test-server.ts';
import { client } from '../keys/testing.ts';
import { expected, sent, startRemoteApi } from './testing.ts';
import type { RemoteApi } from './testing.ts';

const path = planePath('demo');
const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';

interface Both extends AsyncDisposable {
  readonly server: TenancyServer;
  readonly remote: RemoteApi;
}

async function both(options: Parameters<typeof TenancyServer.open>[0] = {}): Promise<Both> {
  await using opened = new AsyncDisposableStack();
  const server = opened.use(await TenancyServer.open(options));
  await server.make('demo');
  const remote = opened.use(await startRemoteApi(server, 'demo'));
  const moved = opened.move();
  return { server, remote, [Symbol.asyncDispose]: () => moved.disposeAsync() };
}

const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Returns a connection with a certificate that the tenant has issued. */
async function peerOf(server: TenancyServer, name: string, user: string, organizations: string[]): Promise<Peer> {
  const { status } = await server.expect(201, 'POST', `${tenants}/${name}/keys`);
  const { certificate } = client(status.authority, { commonName: user, organizations });
  const der = new X509Certificate(certificate).raw;
  return { address: '127.0.0.1', certificate: undefined, unverified: { der: () => der } };
}

describe('a tenant that another API server serves', () => {
  test('passes requests on, with the user in the headers of a front proxy', async () => {
    await using opened = await both();
    const { server, remote } = opened;
    const peer = await peerOf(server, 'demo', 'jane', ['system:masters', 'dev']);
    const body = configMap('a', { one: '1' });
    await expected(server, 201, 'POST', `${path}${configMaps}`, { body, peer, token: null });
    const { data } = await expected(server, 200, 'GET', `${path}${configMaps}/a`, { peer, token: null });
    assert.deepEqual(data, { one: '1' });
    const [posted] = remote.seen;
    assert.equal(posted!.certificate, 'front-proxy-client');
    assert.deepEqual(posted!.headers['x-remote-user'], ['jane']);
    assert.deepEqual(posted!.headers['x-remote-group'], ['system:masters', 'dev', 'system:authenticated']);
    assert.equal((await server.store.get('/registry/clusters/demo/configmaps/default/a')).entry, undefined);
    const { status } = await server.expect(200, 'GET', `${tenants}/demo`);
    assert.deepEqual(status.serving, { mode: 'Remote', server: remote.url });
  });

  test('names platform administrators, and never sends their tokens', async () => {
    await using opened = await both();
    const { server, remote } = opened;
    await expected(server, 200, 'GET', `${path}${roles}/admin`);
    const [seen] = remote.seen;
    assert.deepEqual(seen!.headers['x-remote-user'], ['admin']);
    assert.equal(seen!.headers['authorization'], undefined);
    assert.equal(seen!.certificate, 'front-proxy-client');
  });

  test('passes headers of a front proxy, of hops and of unknown purpose on from no client', async () => {
    await using opened = await both();
    const { server, remote } = opened;
    const peer = await peerOf(server, 'demo', 'jane', ['dev']);
    const headers = {
      'X-Remote-User': 'root',
      'X-Remote-Group': 'system:masters',
      'X-Remote-Extra-Scopes': 'all',
      'X-Remote-Uid': '1',
      Cookie: 'session=1',
      'Impersonate-User': 'bob',
      Connection: 'x-kubernetes-secret, impersonate-group',
      'X-Kubernetes-Secret': 'hop',
      'Impersonate-Group': 'system:masters',
    };
    await server.answer('GET', `${path}${configMaps}`, { peer, token: null, headers });
    const { headers: seen } = remote.seen[0]!;
    assert.deepEqual(seen['x-remote-user'], ['jane']);
    assert.deepEqual(seen['x-remote-group'], ['dev', 'system:authenticated']);
    assert.deepEqual(seen['impersonate-user'], ['bob'], 'the other API server decides about impersonation');
    for (const name of [
      'x-remote-extra-scopes',
      'x-remote-uid',
      'cookie',
      'x-kubernetes-secret',
      'impersonate-group',
    ]) {
      assert.equal(seen[name], undefined, name);
    }
  });

  test('refuses users of another tenant, and forged tokens, as if it did not exist', async () => {
    await using opened = await both({ tenancy: { strangersPaceMs: 0 } });
    const { server, remote } = opened;
    await server.make('other');
    const peer = await peerOf(server, 'other', 'jane', ['system:masters']);
    const unknown = await server.request('GET', `${planePath('none')}${configMaps}`, { peer, token: null });
    const refused = await sent(server, 'GET', `${path}${configMaps}`, { peer, token: null });
    assert.equal(refused.status, unknown.status);
    assert.equal(refused.status, 401);
    const payload = { iss: 'https://127.0.0.1:6443/clusters/demo/control-plane', sub: 'system:serviceaccount:a:b' };
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const forged = `${part({ alg: 'ES256', kid: 'x' })}.${part(payload)}.${'A'.repeat(86)}`;
    assert.equal((await sent(server, 'GET', `${path}${configMaps}`, { token: forged })).status, 401);
    assert.equal(remote.seen.length, 0);
  });

  test('refuses ambiguous targets', async () => {
    await using opened = await both();
    const { server, remote } = opened;
    for (const target of ['/api/v1/namespaces/default/p%6fds', '/api/v1/../v1/pods', '/api/v1/pods?a=1;b=2']) {
      const { status } = await sent(server, 'GET', `${path}${target}`);
      assert.ok(status === 400 || status === 404, `${target}: ${status}`);
    }
    assert.equal(remote.seen.length, 0);
  });

  test('answers 503 with Retry-After when the API server is unreachable', async () => {
    await using server = await TenancyServer.open();
    await server.make('demo');
    await using remote = await startRemoteApi(server, 'demo');
    await expected(server, 200, 'GET', `${path}${roles}/admin`);
    await remote[Symbol.asyncDispose]();
    const { status, headers } = await sent(server, 'GET', `${path}${roles}/admin`);
    assert.equal(status, 503);
    assert.equal(headers['retry-after'], '1');
  });

  test('is not backed up, restored or materialised, and is deleted without its API server', async () => {
    await using opened = await both();
    const { server } = opened;
    for (const operation of ['backup', 'materialise']) {
      const { message } = await server.expect(409, 'POST', `${tenants}/demo/${operation}`);
      assert.match(message, /serves the tenant/);
    }
    await server.expect(409, 'POST', `${tenants}/demo/restore?replace=true`, { body: 'x' });
    await server.expect(200, 'DELETE', `${tenants}/demo`);
  });

  test('keeps its suspension', async () => {
    await using opened = await both();
    const { server, remote } = opened;
    const contentType = 'application/merge-patch+json';
    await server.expect(200, 'PATCH', `${tenants}/demo`, { body: { spec: { suspension: 'ReadOnly' } }, contentType });
    await expected(server, 403, 'POST', `${path}${configMaps}`, { body: configMap('a') });
    await expected(server, 200, 'GET', `${path}${configMaps}`);
    assert.equal(remote.seen.length, 1);
  });
});

test('a service account token is passed on, without the certificate of the front proxy', async () => {
  await using server = await TenancyServer.open();
  await server.make('demo');
  const accounts = `${path}/api/v1/namespaces/default/serviceaccounts`;
  await server.expect(201, 'POST', accounts, { body: { metadata: { name: 'robot' } } });
  const { status } = await server.expect(201, 'POST', `${accounts}/robot/token`, { body: { spec: {} } });
  const token: string = status.token;
  await using remote = await startRemoteApi(server, 'demo');
  const user = { name: 'system:serviceaccount:default:robot', uid: '', groups: ['system:masters'], extra: {} };
  remote.tokens.set(token, user);
  const headers = { 'X-Remote-User': 'root' };
  await expected(server, 200, 'GET', `${path}${configMaps}`, { token, headers });
  const [seen] = remote.seen;
  assert.deepEqual(seen!.headers['authorization'], [`Bearer ${token}`]);
  assert.equal(seen!.headers['x-remote-user'], undefined);
  assert.equal(seen!.certificate, undefined);
});

describe('a hold of a tenant that another API server serves', () => {
  test('ends watches between two events, and lets requests wait', async () => {
    await using opened = await both();
    const { server } = opened;
    const watch = await server.watch(`${path}${configMaps}?watch=true&resourceVersion=0`);
    await expected(server, 201, 'POST', `${path}${configMaps}`, { body: configMap('a') });
    assert.deepEqual(await watch.told(1), ['ADDED a']);
    await server.expect(201, 'POST', `${tenants}/demo/hold?id=back`);
    await watch.ended();
    const waiting = sent(server, 'GET', `${path}${configMaps}/a`);
    while (server.tenancy.heldRequests('demo') === 0) await pause();
    await server.expect(201, 'POST', `${tenants}/demo/release?id=back`);
    assert.equal((await waiting).status, 200);
  });

  test('returns after requests in progress have been answered', async () => {
    await using opened = await both();
    const { server, remote } = opened;
    const gate = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    remote.intercept = async () => {
      reached.resolve();
      await gate.promise;
      return undefined;
    };
    const running = sent(server, 'POST', `${path}${configMaps}`, { body: configMap('a') });
    await reached.promise;
    let isHeld = false;
    const holding = server.expect(201, 'POST', `${tenants}/demo/hold?id=back`).then(() => (isHeld = true));
    while ((await server.expect(200, 'GET', `${tenants}/demo`)).status.serving.heldBy === undefined) await pause();
    await pause();
    assert.equal(isHeld, false);
    gate.resolve();
    assert.equal((await running).status, 201);
    await holding;
  });

  test('repeats writes that the fence of etcd refused', async () => {
    await using opened = await both();
    const { server, remote } = opened;
    let refusals = 3;
    remote.intercept = (request) => {
      if (request.method !== 'POST' || refusals-- <= 0) return undefined;
      const text = JSON.stringify({ kind: 'Status', message: 'etcdserver: permission denied', code: 500 });
      const headers = { 'content-type': 'application/json', 'content-length': String(text.length) };
      return { status: 500, headers, body: Buffer.from(text) };
    };
    await expected(server, 201, 'POST', `${path}${configMaps}`, { body: configMap('a') });
    assert.equal(remote.seen.length, 4);
    assert.ok(remote.seen.every(({ body }) => body === remote.seen[0]!.body));
  });

  test('does not repeat a write because a webhook of the tenant says the same', async () => {
    await using opened = await both();
    const { server, remote } = opened;
    remote.intercept = (request) => {
      if (request.method !== 'POST') return undefined;
      const message = 'failed calling webhook "a.b.c": "message":"etcdserver: permission denied"';
      const text = JSON.stringify({ kind: 'Status', message, code: 500 });
      const headers = { 'content-type': 'application/json', 'content-length': String(text.length) };
      return { status: 500, headers, body: Buffer.from(text) };
    };
    await expected(server, 500, 'POST', `${path}${configMaps}`, { body: configMap('a') });
    assert.equal(remote.seen.length, 1);
  });
});
