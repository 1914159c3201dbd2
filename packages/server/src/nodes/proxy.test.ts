import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { startCluster, namespace, nodeAddress, podAddress, pods } from './testing/cluster.ts';
import type { TestCluster } from './testing/cluster.ts';
import { startKubelet } from './testing/kubelet.ts';

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

const show: RequestListener = (request, response) => {
  void request.toArray().then((chunks) => {
    const { method, url, headers } = request;
    response.writeHead(200, { 'content-type': 'application/json', 'set-cookie': 'a=b', 'x-own': '1' });
    response.end(JSON.stringify({ method, url, headers, body: chunks.join('') }));
  });
};

async function startPod(cluster: TestCluster, handler: RequestListener = show): Promise<Server & AsyncDisposable> {
  const server = createServer(handler);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cluster.routes.set(`${podAddress}:8080`, (server.address() as AddressInfo).port);
  await cluster.populate();
  return Object.assign(server, {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
}

const seen = (text: string): Seen => JSON.parse(text) as Seen;

test('a request to a pod has its method, path, query, body and headers, but no credentials', async () => {
  await using cluster = await startCluster();
  await using _ = await startPod(cluster);
  for (const [path, url] of [
    ['web/proxy/a/b%20c?x=1&y=%2F', '/a/b%20c?x=1&y=%2F'],
    ['web:8080/proxy/', '/'],
    ['http:web:8080/proxy/a/../b/', '/b/'],
    ['web/proxy/%2e%2e/%2e%2e/x', '/x'],
  ] as const) {
    const { status, text, headers } = await cluster.request('POST', `${pods}/${path}`, {
      body: '{"a":1}',
      headers: { cookie: 'secret=1', 'x-remote-user': 'root', 'impersonate-user': [], accept: 'text/x' },
    });
    assert.equal(status, 200, text);
    const got = seen(text);
    assert.deepEqual([got.method, got.url, got.body], ['POST', url, '{"a":1}']);
    for (const name of ['authorization', 'cookie', 'x-remote-user']) assert.equal(got.headers[name], undefined, name);
    assert.equal(got.headers['accept'], 'text/x');
    assert.equal(got.headers['host'], `127.0.0.1:${cluster.port}`);
    assert.equal(got.headers['x-forwarded-for'], '127.0.0.1');
    assert.deepEqual([headers['set-cookie'], headers['x-own']], [undefined, undefined]);
    assert.match(String(headers['content-security-policy']), /sandbox/);
  }
  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    const { text } = await cluster.request(method, `${pods}/web/proxy/x`, method === 'GET' ? {} : { body: '{}' });
    assert.deepEqual([seen(text).method, seen(text).url], [method, '/x']);
    assert.equal(seen(text).headers['x-forwarded-uri'], `${pods}/web/proxy/x`);
  }
  assert.equal((await cluster.request('HEAD', `${pods}/web/proxy/x`)).status, 200);
  await cluster.idle();
});

test('a path without a slash is redirected', async () => {
  await using cluster = await startCluster();
  await using _ = await startPod(cluster);
  const { status, headers } = await cluster.request('GET', `${pods}/web/proxy?a=1`);
  assert.deepEqual([status, headers.location], [301, `${pods}/web/proxy/?a=1`]);
  assert.equal(seen((await cluster.request('POST', `${pods}/web/proxy`, { body: '' })).text).url, '/');
});

test('redirects and links of HTML lead through the proxy', async () => {
  await using cluster = await startCluster();
  const html =
    '<p>é<a href="/rewriteme?q=1">test</a><img src=/i.png><a href="other">x</a><script>"<a href=/no>"</script>';
  await using _ = await startPod(cluster, ({ url }, response) => {
    if (url === '/moved') response.writeHead(302, { location: `http://${podAddress}:8080/there/` }).end();
    else if (url === '/away') response.writeHead(302, { location: 'http://example.com/there' }).end();
    else response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html);
  });
  const prefix = `${pods}/web/proxy`;
  assert.equal((await cluster.request('GET', `${prefix}/moved`)).headers.location, `${prefix}/there/`);
  assert.equal((await cluster.request('GET', `${prefix}/away`)).headers.location, 'http://example.com/there');
  const page = await cluster.request('GET', `${prefix}/page`);
  assert.equal(
    page.text,
    `<p>é<a href="${prefix}/rewriteme?q=1">test</a><img src="${prefix}/i.png"><a href="other">x</a><script>"<a href=/no>"</script>`,
  );
});

test('a service is reached at an endpoint that is a pod', async () => {
  await using cluster = await startCluster();
  await using _ = await startPod(cluster);
  const targetRef = { kind: 'Pod', namespace: 'default', name: 'web' };
  const create = (path: string, body: object) => cluster.request('POST', `${namespace}/${path}`, { body });
  await create('services', { metadata: { name: 'web' }, spec: { ports: [{ name: 'http', port: 80 }] } });
  await create('endpoints', {
    metadata: { name: 'web' },
    subsets: [
      { addresses: [{ ip: podAddress, targetRef }, { ip: '10.9.9.9' }], ports: [{ name: 'http', port: 8_080 }] },
      { addresses: [{ ip: '10.9.9.8', targetRef }], ports: [{ name: 'other', port: 8_080 }] },
    ],
  });
  for (const name of ['web:80', 'web:http', 'http:web:http']) {
    const { status, text } = await cluster.request('GET', `${namespace}/services/${name}/proxy/x`);
    assert.deepEqual([status, seen(text).url], [200, '/x'], name);
  }
  const foreign = await cluster.request('GET', `${namespace}/services/web:other/proxy/x`);
  assert.equal(foreign.status, 503);
  assert.match(foreign.text, /no endpoints available for service \\"web:other\\"/);
});

test('a node is reached at its kubelet with the client certificate, and at other ports without', async () => {
  await using cluster = await startCluster();
  await using kubelet = await startKubelet({ authority: cluster.authority, hosts: [nodeAddress] });
  await using _ = await startPod(cluster);
  cluster.routes.set(`${nodeAddress}:10250`, kubelet.port);
  cluster.routes.set(`${nodeAddress}:9100`, cluster.routes.get(`${podAddress}:8080`)!);
  cluster.routes.set(`${nodeAddress}:9443`, kubelet.port);
  for (const name of ['node-a', 'node-a:10250', 'https:node-a:10250']) {
    assert.equal((await cluster.request('GET', `/api/v1/nodes/${name}/proxy/healthz`)).text, 'ok');
  }
  assert.deepEqual(new Set(kubelet.requests.map(({ user }) => user)), new Set(['kube-apiserver-kubelet-client']));
  assert.equal(seen((await cluster.request('GET', '/api/v1/nodes/node-a:9100/proxy/metrics')).text).url, '/metrics');
  assert.equal((await cluster.request('GET', '/api/v1/nodes/https:node-a:9443/proxy/x')).text, 'ok');
  assert.equal(kubelet.requests.at(-1)!.user, '', 'the client certificate is only for the kubelet');
});

test('addresses of the machine itself are not proxied to', async () => {
  await using cluster = await startCluster();
  await using _ = await startPod(cluster);
  for (const ip of ['127.0.0.1', '169.254.169.254', '::1', '0.0.0.0', 'fe80::1', '224.0.0.1']) {
    const patch = { status: { podIPs: [{ ip }], podIP: ip } };
    await cluster.request('PATCH', `${pods}/web/status`, {
      body: patch,
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    const { status, text } = await cluster.request('GET', `${pods}/web/proxy/x`);
    assert.deepEqual([status, (JSON.parse(text) as { message: string }).message], [400, 'address not allowed'], ip);
  }
});

test('an unreachable pod is reported as kube-apiserver does', async () => {
  await using cluster = await startCluster();
  await using _ = await startPod(cluster);
  const { status, text } = await cluster.request('GET', `${pods}/web:9/proxy/x`);
  assert.deepEqual(
    [status, (JSON.parse(text) as { message: string }).message],
    [503, `error trying to reach service: dial tcp ${podAddress}:9: connect: no route to host`],
  );
});

test('a connection to a pod can be upgraded', async () => {
  await using cluster = await startCluster();
  await using server = await startPod(cluster);
  server.on('upgrade', ({ url }, socket) => {
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n${url}`);
    socket
      .on('error', () => {})
      .on('end', () => socket.end())
      .resume();
  });
  const { socket } = await cluster.upgrade('GET', `${pods}/web/proxy/ws?a=1`, { upgrade: 'websocket' });
  const [first] = (await once(socket, 'data')) as [Buffer];
  assert.equal(first.toString(), '/ws?a=1');
  socket.destroy();
});
