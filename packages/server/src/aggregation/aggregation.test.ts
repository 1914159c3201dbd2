import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { connect } from 'node:tls';
import type { Authorizer } from '../auth/authorize.ts';
import { privilegedGroup } from '../auth/authorize.ts';
import { startHub } from './testing/hub.ts';
import type { Hub, HubOptions } from './testing/hub.ts';
import { startRemote } from './testing/remote.ts';
import type { Remote, RemoteOptions } from './testing/remote.ts';

const group = 'things.example.com';
const things = `/apis/${group}/v1/namespaces/default/things`;

type Answering = Pick<RemoteOptions, 'answer' | 'upgrade'>;

/** Starts a hub with an aggregated server behind it that is available. */
async function behind(
  answering: Answering,
  options: HubOptions = {},
): Promise<AsyncDisposable & { hub: Hub; remote: Remote }> {
  await using opened = new AsyncDisposableStack();
  const hub = opened.use(await startHub(options));
  const remote = opened.use(await startRemote({ group, clientCa: hub.frontProxyCa.certificate, ...answering }));
  await hub.register(group, remote.port, remote.ca);
  await hub.until('available', async () => (await hub.condition(group))?.status === 'True');
  const both = opened.move();
  return { hub, remote, [Symbol.asyncDispose]: () => both.disposeAsync() };
}

const ok: Answering['answer'] = (_, response) => response.end('{"ok":true}');

test('the other server is told who asks by this one alone, whatever the client says', async () => {
  await using both = await behind({ answer: ok });
  const { hub, remote } = both;
  const forged = {
    'X-Remote-User': 'system:admin',
    'x-remote-group': ['system:masters', 'evil'],
    'X-REMOTE-UID': '0',
    'X-Remote-Extra-Scopes': 'all',
    x_remote_user: 'evil',
    'Impersonate-Nobody': 'evil',
    'X-Forwarded-For': '1.2.3.4',
    'X-Smuggled': 'a',
    Connection: 'X-Smuggled, keep-alive',
    'X-Kubernetes-Kept': ['one', 'two'],
    'X-Unknown': 'evil',
  };
  const answer = await hub.request('POST', `${things}?a=%20b`, { body: { a: 1 }, headers: forged });
  assert.deepEqual([answer.status, answer.data], [200, { ok: true }]);
  const [seen] = remote.requests;
  assert.deepEqual([seen!.method, seen!.url, seen!.body], ['POST', `${things}?a=%20b`, '{"a":1}']);
  const names = new Set(seen!.rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase()));
  const text = JSON.stringify(seen!.rawHeaders).toLowerCase();
  assert.ok(!/evil|system:admin|smuggled|bearer|scopes/.test(text), text);
  for (const gone of ['authorization', 'x-remote-uid', 'te', 'upgrade']) assert.ok(!names.has(gone), gone);
  assert.equal(seen!.headers['x-remote-user'], 'admin');
  assert.equal(seen!.headers['x-remote-group'], 'system:masters, system:authenticated');
  assert.equal(seen!.headers['x-kubernetes-kept'], 'one, two');
  assert.match(String(seen!.headers['x-forwarded-for']), /^1\.2\.3\.4, .*127\.0\.0\.1$/);
  assert.equal(seen!.peer, 'front-proxy-client');
});

test('what the user may not do is not handed on', async () => {
  const reader: Authorizer = {
    authorize: (user, info) =>
      user.name === 'reader' && info.isResource && info.verb === 'list' && info.group === group
        ? 'allow'
        : 'no opinion',
  };
  const tokens = [{ token: 'reader', user: 'reader' }];
  await using both = await behind({ answer: ok }, { authorizers: [privilegedGroup, reader], tokens });
  const { hub, remote } = both;
  const asked = (method: string) => hub.request(method, things, { token: 'reader' });
  assert.equal((await asked('GET')).status, 200);
  const refused = await asked('DELETE');
  assert.equal(refused.status, 403);
  assert.match(refused.data.message, /cannot deletecollection resource "things" in API group "things.example.com"/);
  assert.equal((await hub.request('GET', things, { token: 'unknown' })).status, 401);
  assert.deepEqual(
    remote.requests.map(({ method }) => method),
    ['GET'],
  );
});

test('an answer is handed back while it comes, and both ends of it end together', async () => {
  const open: { response: ServerResponse; closed: Promise<unknown> }[] = [];
  await using both = await behind({
    answer: (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"type":"ADDED"}\n');
      open.push({ response, closed: once(response, 'close') });
    },
  });
  const watch = await both.hub.stream(`${things}?watch=true`);
  assert.equal((await once(watch, 'data')).toString(), '{"type":"ADDED"}\n');
  open[0]!.response.write('{"type":"DELETED"}\n');
  assert.equal((await once(watch, 'data')).toString(), '{"type":"DELETED"}\n');
  watch.destroy();
  await open[0]!.closed;
  // The reverse direction: a client must not treat a partial body as complete.
  const broken = await both.hub.stream(`${things}?watch=true`);
  await once(broken, 'data');
  const failed = once(broken, 'error');
  open[1]!.response.destroy();
  assert.equal(((await failed)[0] as { code: string }).code, 'ECONNRESET');
});

test('answers keep their status and the headers of Kubernetes; redirects are refused', async () => {
  await using both = await behind({
    answer: ({ url }, response) => {
      if (url.endsWith('moved')) response.writeHead(302, { location: 'https://elsewhere' }).end();
      else
        response.writeHead(418, ['warning', '299 - "a"', 'warning', '299 - "b"', 'x-kubernetes-own', 'yes']).end('tea');
    },
  });
  const { hub } = both;
  const answer = await hub.request('GET', `${things}/a`);
  assert.deepEqual([answer.status, answer.text, answer.headers['x-kubernetes-own']], [418, 'tea', 'yes']);
  assert.equal(answer.headers.warning, '299 - "a", 299 - "b"');
  const moved = await hub.request('GET', `${things}/moved`);
  assert.deepEqual([moved.status, moved.headers.location], [502, undefined]);
});

test('paths that lead elsewhere are not handed on', async () => {
  await using both = await behind({ answer: ok });
  const { hub, remote } = both;
  const base = `/apis/${group}/v1`;
  for (const path of ['/../../../api/v1/secrets', '/%2e%2e/x', '/a/./b', '//x', '/a%2fb', '/a%5c..%5cb']) {
    assert.equal((await hub.request('GET', base + path)).status, 404, path);
  }
  assert.equal(remote.requests.length, 0);
});

test('a connection that becomes a WebSocket goes through, both ways', async () => {
  await using both = await behind({ answer: ok, upgrade: (socket) => socket.pipe(socket) });
  const { hub, remote } = both;
  const socket = connect({ host: '127.0.0.1', port: hub.port, ca: hub.access.ca!, ALPNProtocols: ['http/1.1'] });
  await once(socket, 'secureConnect');
  const ask = (path: string): string =>
    `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer admin\r\nConnection: Upgrade\r\n` +
    'Upgrade: websocket\r\nX-Remote-User: evil\r\n\r\n';
  socket.write(`${ask(`${things}/a/stream`)}early `);
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await hub.until('the echo', async () => text.endsWith('early '));
  assert.match(text, /^HTTP\/1\.1 101 Switching Protocols\r\n[^]*Upgrade: websocket\r\n\r\nearly $/);
  socket.write('late');
  await hub.until('the second echo', async () => text.endsWith('early late'));
  assert.equal(remote.requests[0]!.headers['x-remote-user'], 'admin');
  const closed = once(socket, 'close');
  socket.end();
  await closed;
  // The protocol is not upgraded, so the response is an ordinary one.
  const other = connect({ host: '127.0.0.1', port: hub.port, ca: hub.access.ca!, ALPNProtocols: ['http/1.1'] });
  other.write(ask('/api/v1/namespaces/default'));
  assert.match((await other.toArray()).join(''), /^HTTP\/1\.1 200 OK[^]*"kind":"Namespace"/);
});

test('a server that died is unavailable and stale, and costs nobody else anything', async () => {
  await using both = await behind({ answer: ok });
  const { hub, remote } = both;
  const aggregated = { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' };
  const found = async () => {
    const { data } = await hub.request('GET', '/apis', { headers: aggregated });
    return data.items.find((one: { metadata: { name: string } }) => one.metadata.name === group);
  };
  const resources = [
    {
      resource: 'things',
      responseKind: { group: '', version: '', kind: 'Thing' },
      scope: 'Namespaced',
      singularResource: 'thing',
      verbs: ['get'],
    },
  ];
  assert.deepEqual((await found()).versions, [{ version: 'v1', resources, freshness: 'Current' }]);
  await remote.stop();
  const gone = await hub.request('GET', things);
  assert.deepEqual([gone.status, gone.headers['content-type']], [503, 'text/plain; charset=utf-8']);
  await hub.until('unavailable', async () => (await hub.condition(group)).status === 'False');
  const condition = await hub.condition(group);
  assert.equal(condition.reason, 'FailedDiscoveryCheck');
  assert.match(
    condition.message,
    /^failing or missing response from https:\/\/localhost:\d+\/apis\/things.example.com\/v1:/,
  );
  assert.equal((await hub.request('GET', things)).text, 'service unavailable\n');
  assert.deepEqual((await found()).versions, [{ version: 'v1', resources, freshness: 'Stale' }]);
  const legacy = await hub.request('GET', '/apis');
  assert.ok(legacy.data.groups.some((one: { name: string }) => one.name === group));
  assert.equal((await hub.request('GET', `/apis/${group}`)).data.preferredVersion.version, 'v1');
  assert.equal((await hub.request('GET', '/api/v1/namespaces')).status, 200);
});

test('addresses of this machine are refused unless they are allowed', async () => {
  await using hub = await startHub({ allow: [] });
  await using remote = await startRemote({ group, clientCa: hub.frontProxyCa.certificate, answer: ok });
  await hub.register(group, remote.port, remote.ca);
  await hub.until('checked', async () => (await hub.condition(group)) !== undefined);
  const condition = await hub.condition(group);
  assert.deepEqual([condition.status, condition.reason], ['False', 'FailedDiscoveryCheck']);
  assert.match(condition.message, /the address is not allowed by this server's policy/);
  assert.equal((await hub.request('GET', things)).status, 503);
  assert.equal(remote.requests.length, 0);
});

test('a server whose certificate is for another name, or of another CA, is not believed', async () => {
  await using hub = await startHub();
  await using remote = await startRemote({
    group: 'other.example.com',
    clientCa: hub.frontProxyCa.certificate,
    answer: ok,
  });
  await hub.register(group, remote.port, remote.ca);
  await hub.until('checked', async () => (await hub.condition(group)) !== undefined);
  assert.match((await hub.condition(group)).message, /x509/);
  const path = `/apis/apiregistration.k8s.io/v1/apiservices/v1.${group}`;
  const contentType = 'application/merge-patch+json';
  await hub.request('PATCH', path, { body: { spec: { caBundle: null, insecureSkipTLSVerify: true } }, contentType });
  await hub.until('believed', async () => (await hub.condition(group)).status === 'True');
});

test('an APIService without a service is this server’s own, and goes as it came', async () => {
  await using hub = await startHub();
  const path = '/apis/apiregistration.k8s.io/v1/apiservices';
  const spec = { group: 'own.example.com', version: 'v1', groupPriorityMinimum: 10, versionPriority: 10 };
  await hub.request('POST', path, { body: { metadata: { name: 'v1.own.example.com' }, spec } });
  await hub.until('local', async () => (await hub.condition('own.example.com'))?.reason === 'Local');
  assert.equal((await hub.request('GET', '/apis/own.example.com/v1')).status, 404);
});

test('a service that comes to be, or changes, is looked at at once', async () => {
  await using hub = await startHub();
  const path = '/api/v1/namespaces/default/services';
  const spec = { group, version: 'v1', groupPriorityMinimum: 1, versionPriority: 1, insecureSkipTLSVerify: true };
  const service = { namespace: 'default', name: 'late', port: 443 };
  const body = { metadata: { name: `v1.${group}` }, spec: { ...spec, service } };
  await hub.request('POST', '/apis/apiregistration.k8s.io/v1/apiservices', { body });
  const until = (reason: string) => hub.until(reason, async () => (await hub.condition(group))?.reason === reason);
  await until('ServiceNotFound');
  await hub.request('POST', path, { body: { metadata: { name: 'late' }, spec: { ports: [{ port: 8443 }] } } });
  await until('ServicePortError');
  const contentType = 'application/merge-patch+json';
  await hub.request('PATCH', `${path}/late`, { contentType, body: { spec: { ports: [{ port: 443 }] } } });
  await until('EndpointsNotFound');
  const slice = {
    addressType: 'IPv4',
    endpoints: [{ addresses: ['192.0.2.1'] }],
    ports: [{ name: 'other', port: 443 }],
  };
  const labels = { 'kubernetes.io/service-name': 'late' };
  await hub.request('POST', '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', {
    body: { metadata: { name: 'late', labels }, ...slice },
  });
  await until('MissingEndpoints');
  assert.equal(
    (await hub.condition(group)).message,
    'endpointslices for service/late in "default" have no addresses with port name ""',
  );
});
