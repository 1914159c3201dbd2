/** Ports of tenants with nodes over real TLS: routing, certificates, allocation and attacks. */

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { createServer } from 'node:net';
import { describe, test } from 'node:test';
import { connect } from 'node:tls';
import { planePath, tenant, tenants } from '../../testing/tenancy-server.ts';
import { configMap, configMaps } from '../../testing/test-server.ts';
import { ask, host, PortedServer, testPorts } from './testing.ts';
import type { PortedTenant } from './testing.ts';

const namespaces = '/api/v1/namespaces';
const clusterInfo = '/api/v1/namespaces/kube-public/configmaps/cluster-info';

async function withTwo(act: (server: PortedServer, red: PortedTenant, blue: PortedTenant) => Promise<void>) {
  await using server = await PortedServer.open();
  const [red, blue] = [await server.make('red'), await server.make('blue')];
  for (const [name, { port, ca, admin }] of [
    ['red', red],
    ['blue', blue],
  ] as const) {
    const body = configMap('mark', { tenant: name });
    const { status, text } = await ask({ port, ca }, configMaps, { method: 'POST', body, ...admin });
    assert.equal(status, 201, text);
  }
  await act(server, red, blue);
}

const markOf = (text: string): string => JSON.parse(text).data?.tenant;

describe('the port of a tenant', () => {
  test('serves the tenant at its root path, with a certificate of its CA, without a server name', async () => {
    await withTwo(async (_server, red, blue) => {
      assert.notEqual(red.port, blue.port);
      const { status, text } = await ask(red, `${configMaps}/mark`, red.admin);
      assert.equal(status, 200, text);
      assert.equal(markOf(text), 'red');
      assert.equal(markOf((await ask(blue, `${configMaps}/mark`, blue.admin)).text), 'blue');
      await assert.rejects(ask({ ...red, ca: blue.ca }, namespaces, red.admin), { code: /CERT|SELF_SIGNED|UNABLE/ });
    });
  });

  test('has a certificate for its address, the service address and the names of the service kubernetes', async () => {
    await using server = await PortedServer.open();
    const { port, ca } = await server.make('red', { hosts: ['red.example.com'] });
    const socket = connect({ host, port, ca });
    await once(socket, 'secureConnect');
    const certificate = socket.getPeerX509Certificate()!;
    socket.destroy();
    for (const name of ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'localhost', 'red.example.com']) {
      assert.ok(certificate.checkHost(name), name);
    }
    assert.ok(certificate.checkHost('kubernetes.default.svc.cluster.local'));
    for (const address of ['127.0.0.1', '10.0.0.1']) assert.ok(certificate.checkIP(address), address);
    assert.ok(certificate.verify(new X509Certificate(ca).publicKey));
  });

  test('accepts tokens of its service accounts over HTTP/2, and watches end when nodes are disabled', async () => {
    await withTwo(async ({ server }, red, blue) => {
      const account = `${namespaces}/default/serviceaccounts`;
      await server.expect(201, 'POST', `${planePath('red')}${account}`, { body: { metadata: { name: 'robot' } } });
      const issued = `${planePath('red')}${account}/robot/token`;
      const { token } = (await server.expect(201, 'POST', issued, { body: { spec: {} } })).status;
      const review = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
      const whoAmI = async ({ port, ca }: PortedTenant): Promise<string> => {
        const session = connectHttp2(`https://${host}:${port}`, { ca });
        const stream = session.request({
          ':method': 'POST',
          ':path': review,
          'content-type': 'application/json',
          authorization: `Bearer ${token}`,
        });
        stream.end('{}');
        const text = (await stream.toArray()).join('');
        session.destroy();
        return text;
      };
      assert.equal(JSON.parse(await whoAmI(red)).status.userInfo.username, 'system:serviceaccount:default:robot');
      assert.equal(JSON.parse(await whoAmI(blue)).code, 401);
      const session = connectHttp2(`https://${host}:${red.port}`, { ca: red.ca, ...red.admin });
      const watch = session.request({ ':path': `${configMaps}?watch=true` });
      watch.resume();
      await once(watch, 'response');
      session.on('error', () => {});
      watch.on('error', () => {});
      const closed = new Promise((resolve) => session.once('close', resolve));
      const body = { spec: { nodes: null } };
      await server.expect(200, 'PATCH', `${tenants}/red`, { body, contentType: 'application/merge-patch+json' });
      await closed;
    });
  });

  test('answers cluster-info and health without credentials, and nothing else', async () => {
    await using server = await PortedServer.open();
    const red = await server.make('red');
    const role = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'info' };
    const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/kube-public';
    const inRed = (path: string, body: object) =>
      server.server.expect(201, 'POST', `${planePath('red')}${rbac}/${path}`, { body });
    await inRed('roles', {
      metadata: { name: 'info' },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'delete'] }],
    });
    const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'system:anonymous' }];
    await inRed('rolebindings', { metadata: { name: 'info' }, roleRef: role, subjects });
    server.server.tenancy.open.drop('red');
    const info = await ask(red, clusterInfo);
    assert.equal(info.status, 200, info.text);
    assert.match(info.text, /"kubeconfig"/);
    assert.equal((await ask(red, '/readyz')).status, 200);
    for (const path of [namespaces, '/api', '/', `${clusterInfo}/`, `${namespaces}/kube-public/configmaps/other`]) {
      assert.equal((await ask(red, path)).status, 401, path);
    }
    assert.equal((await ask(red, clusterInfo, { method: 'DELETE' })).status, 401);
    assert.equal((await ask(red, clusterInfo, { headers: { authorization: 'Bearer wrong' } })).status, 401);
  });

  test('does not serve the tenant of a path, a Host header, an authority or a server name', async () => {
    await withTwo(async ({ server, listener }, red, blue) => {
      await server.expect(200, 'PATCH', `${tenants}/blue`, {
        body: { spec: { hosts: ['blue.example.com'] } },
        contentType: 'application/merge-patch+json',
      });
      for (const root of ['/clusters', '/projects', '/apis/resourcemanager.miloapis.com/v1alpha1/projects']) {
        for (const name of ['blue', 'red', '*', '%2a', 'root']) {
          const path = `${root}/${name}/control-plane${configMaps}/mark`;
          const { status, text } = await ask(red, path, red.admin);
          assert.ok(status === 404, `${path}: ${status} ${text}`);
        }
      }
      const headers = { host: 'blue.example.com' };
      assert.equal(markOf((await ask(red, `${configMaps}/mark`, { ...red.admin, headers })).text), 'red');
      const servername = 'blue.example.com';
      const insecure = { servername, rejectUnauthorized: false };
      assert.equal(markOf((await ask(red, `${configMaps}/mark`, { ...red.admin, ...insecure })).text), 'red');
      assert.equal((await ask(red, `${configMaps}/mark`, { ...blue.admin, ...insecure, headers })).status, 401);
      const session = connectHttp2(`https://${host}:${red.port}`, { ca: red.ca, ...red.admin });
      const stream = session.request({ ':path': `${configMaps}/mark`, ':authority': 'blue.example.com' });
      assert.equal(markOf((await stream.toArray()).join('')), 'red');
      session.destroy();
      // The management plane is not reachable through the port, and the main port still routes by path.
      assert.equal((await ask(red, tenants, red.admin)).status, 404);
      const main = { port: listener.port, ca: '' };
      const byPath = await ask(main, `${planePath('blue')}${configMaps}/mark`, {
        ...blue.admin,
        rejectUnauthorized: false,
      });
      assert.equal(markOf(byPath.text), 'blue');
    });
  });

  test('routes upgrades to the tenant of the port', async () => {
    await withTwo(async (_server, red, blue) => {
      const exec = '/api/v1/namespaces/default/pods/none/exec?command=true&stdout=true';
      const headers = { connection: 'Upgrade', upgrade: 'SPDY/3.1' };
      const sent = { method: 'POST', headers };
      const { status, text } = await ask(red, exec, { ...sent, ...red.admin });
      assert.equal(status, 404);
      assert.match(text, /pods \\"none\\" not found/);
      assert.equal((await ask(red, exec, { ...sent, ...blue.admin })).status, 401);
    });
  });

  test('refuses credentials of another tenant, also in a resumed session', async () => {
    await withTwo(async ({ server }, red, blue) => {
      assert.equal((await ask(red, namespaces, blue.admin)).status, 401);
      server.tenancy.open.drop('red');
      assert.equal((await ask(red, namespaces, blue.admin)).status, 401);
      assert.equal(await server.tenancy.open.peek('red'), undefined, 'a stranger does not open the tenant');
      const first = connect({ host, port: blue.port, ca: blue.ca, ...blue.admin });
      const [session] = (await once(first, 'session')) as [Buffer];
      first.destroy();
      const { status } = await ask(red, namespaces, { session, rejectUnauthorized: false });
      assert.equal(status, 401);
    });
  });

  test('answers plain HTTP as kube-apiserver does', async () => {
    await using server = await PortedServer.open();
    const { port } = await server.make('red');
    const { request } = await import('node:http');
    const sent = request({ host, port, path: namespaces }).end();
    const [answer] = await once(sent, 'response');
    assert.equal(answer.statusCode, 400);
    answer.resume();
  });
});

describe('ports', () => {
  test('are kept while the tenant exists, and freed when it is deleted or has no nodes', async () => {
    const range = testPorts();
    await using server = await PortedServer.open(range);
    const claims = async () =>
      (await server.server.store.range({ start: '/registry/hangar/ports/', end: '/registry/hangar/ports0' })).entries;
    const red = await server.make('red');
    assert.equal((await claims()).length, 1);
    const merge = 'application/merge-patch+json';
    const patch = (spec: object) =>
      server.server.expect(200, 'PATCH', `${tenants}/red`, { body: { spec }, contentType: merge });
    assert.equal((await patch({ nodes: { networks: ['10.0.0.0/8'] } })).status.nodes.port, red.port);
    assert.equal((await patch({ nodes: { enabled: false } })).status.nodes, undefined);
    assert.equal((await claims()).length, 0);
    await server.ports.settled();
    await assert.rejects(ask(red, '/readyz'), { code: 'ECONNREFUSED' });
    await patch({ nodes: { enabled: true } });
    const again = await server.of('red');
    assert.equal((await ask(again, '/readyz')).status, 200);
    await patch({ suspension: 'Offline' });
    await server.ports.settled();
    await assert.rejects(ask(again, '/readyz'), { code: 'ECONNREFUSED' });
    await patch({ suspension: null });
    await server.ports.settled();
    assert.equal((await ask(again, '/readyz')).status, 200);
    await server.server.expect(200, 'DELETE', `${tenants}/red`);
    await server.ports.settled();
    assert.equal((await claims()).length, 0);
    await assert.rejects(ask(again, '/readyz'), { code: 'ECONNREFUSED' });
  });

  test('of concurrent creations differ, and a full range is an error that says what to do', async () => {
    const all = testPorts();
    await using server = await PortedServer.open({ ...all, last: all.first + 3 });
    const names = ['a', 'b', 'c', 'd'];
    const made = await Promise.all(names.map((name) => server.make(name)));
    assert.equal(new Set(made.map(({ port }) => port)).size, names.length);
    const body = tenant('e', { nodes: { enabled: true } });
    const { message } = await server.server.expect(422, 'POST', tenants, { body });
    assert.match(message, /no free port for nodes between \d+ and \d+: .*--plane-port-range/);
  });

  test('that another program uses are skipped, and one that is taken at the start is reported with its control plane', async () => {
    const all = testPorts();
    const taken = createServer();
    await once(taken.listen({ host, port: 0 }), 'listening');
    const { port: foreign } = taken.address() as { port: number };
    let last = foreign;
    while (!(await all.isFree(last + 1))) last++;
    await using server = await PortedServer.open({ ...all, first: foreign, last: last + 1 });
    const { port } = await server.make('red');
    assert.equal(port, last + 1);
    taken.close();
    const message =
      /port \d+ of control plane "red" cannot be opened, so its nodes cannot connect; retrying: .*EADDRINUSE/;
    {
      await using second = await PortedServer.open(all, { store: server.server.store });
      assert.match(second.problems[0]!.message, message);
      await problemOf(server, (problem) => problem !== undefined && message.test(problem));
    }
    // A server that can open the port removes the report.
    await server.server.expect(200, 'PATCH', `${tenants}/red`, {
      body: { spec: { suspension: 'Offline' } },
      contentType: 'application/merge-patch+json',
    });
    await server.ports.settled();
    await server.server.expect(200, 'PATCH', `${tenants}/red`, {
      body: { spec: { suspension: null } },
      contentType: 'application/merge-patch+json',
    });
    await problemOf(server, (problem) => problem === undefined);
  });
});

/** Resolves when the reported problem of the port of tenant red satisfies the condition. */
async function problemOf({ server }: PortedServer, isSo: (problem: string | undefined) => boolean): Promise<void> {
  for (const endMs = Date.now() + 20_000; ;) {
    const { status } = await server.expect(200, 'GET', `${tenants}/red`);
    if (isSo(status.nodes.problem)) return;
    assert.ok(Date.now() < endMs, `problem: ${status.nodes.problem}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
