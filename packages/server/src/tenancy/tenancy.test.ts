import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { everything } from '@hangar/store';
import { planePath, tenant, tenants, TenancyServer } from '../testing/tenancy-server.ts';
import { configMap, configMaps } from '../testing/test-server.ts';

const keysOf = async (server: TenancyServer): Promise<string[]> =>
  (await server.store.range(everything, { keysOnly: true })).entries.map(({ key }) => key);

describe('a tenant', () => {
  test('is made by one transaction, and is a whole control plane at once', async () => {
    await using server = await TenancyServer.open();
    const before = await server.store.revision();
    const path = await server.make('demo');
    const own = (await keysOf(server)).filter((key) => key.startsWith('/registry/clusters/demo/'));
    assert.ok(
      own.every((key) => key.startsWith('/registry/clusters/demo/.hangar/')),
      own.join(),
    );
    assert.ok((await server.store.revision()) > before);
    const { items } = await server.expect(200, 'GET', `${path}/api/v1/namespaces`);
    assert.deepEqual(
      items.map((one: { metadata: { name: string } }) => one.metadata.name),
      ['default', 'kube-node-lease', 'kube-public', 'kube-system'],
    );
    await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('a', { k: 'v' }) });
    assert.deepEqual((await server.expect(200, 'GET', `${path}${configMaps}/a`)).data, { k: 'v' });
    assert.ok((await keysOf(server)).includes('/registry/clusters/demo/configmaps/default/a'));
    await server.expect(404, 'GET', `${configMaps}/a`);
  });

  test('has UIDs of its own, for what it was born with too', async () => {
    await using server = await TenancyServer.open();
    const [a, b] = [await server.make('a'), await server.make('b')];
    const uids = async (path: string): Promise<string[]> =>
      (await server.expect(200, 'GET', `${path}/apis/rbac.authorization.k8s.io/v1/clusterroles`)).items.map(
        (one: { metadata: { uid: string } }) => one.metadata.uid,
      );
    const all = [...(await uids(a)), ...(await uids(b)), ...(await uids(''))];
    assert.ok(all.length > 150);
    assert.equal(new Set(all).size, all.length);
    assert.deepEqual(await uids(a), await uids(a));
  });

  test('that nobody made is not there, and asking for it writes nothing', async () => {
    await using server = await TenancyServer.open();
    const before = await server.store.revision();
    const path = planePath('nobodys');
    await server.expect(404, 'GET', `${path}/api/v1/namespaces`);
    await server.expect(404, 'POST', `${path}${configMaps}`, { body: configMap('a') });
    await server.expect(401, 'GET', `${path}/api/v1/namespaces`, { token: null });
    await server.expect(401, 'GET', `${path}/readyz`, { token: null });
    await server.expect(401, 'GET', `${path}/api/v1/namespaces`, { token: 'wrong' });
    await server.expect(404, 'GET', `${planePath('root')}/api/v1/namespaces`);
    assert.equal(await server.store.revision(), before);
  });

  test('is reached by its aliases and its host names', async () => {
    await using server = await TenancyServer.open();
    const path = await server.make('demo', { hosts: ['demo.example.com'] });
    await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('a') });
    await server.expect(200, 'GET', `/projects/demo/control-plane${configMaps}/a`);
    const long = '/apis/resourcemanager.miloapis.com/v1alpha1/projects/demo/control-plane';
    await server.expect(200, 'GET', `${long}${configMaps}/a`);
    await server.expect(200, 'GET', `${configMaps}/a`, { headers: { host: 'Demo.example.com:6443' } });
    await server.expect(404, 'GET', `${configMaps}/a`, { headers: { host: 'other.example.com' } });
    const peer = { address: '127.0.0.1', certificate: undefined, serverName: 'demo.example.com' };
    await server.expect(200, 'GET', `${configMaps}/a`, { headers: { host: 'demo.example.com' }, peer });
    const { status } = await server.request('GET', `${configMaps}/a`, { headers: { host: 'localhost' }, peer });
    assert.equal(status, 421);
    // From a client that sets the name only for TLS.
    await server.expect(200, 'GET', `${configMaps}/a`, { headers: { host: '127.0.0.1:6443' }, peer });
    // At its host name a tenant does not serve routes to other tenants.
    await server.make('other');
    await server.expect(404, 'GET', `/clusters/other/control-plane/api/v1/namespaces`, {
      headers: { host: 'demo.example.com' },
    });
  });

  test('has names that nobody else has', async () => {
    await using server = await TenancyServer.open({ tenancy: { ownHosts: () => ['localhost', 'API.example.com'] } });
    await server.make('a', { hosts: ['a.example.com'] });
    const refused = async (name: string, spec: object): Promise<string> =>
      (await server.expect(422, 'POST', tenants, { body: tenant(name, spec) })).message;
    assert.match(await refused('b', { hosts: ['a.example.com'] }), /is already used by another tenant/);
    assert.match(await refused('b', { hosts: ['localhost'] }), /is already used by the management plane/);
    assert.match(await refused('b', { hosts: ['api.example.com'] }), /is already used by the management plane/);
    assert.match(await refused('b', { hosts: ['No.Capitals'] }), /spec.hosts\[0\]/);
    assert.match(await refused('root', {}), /root is the name of the management plane/);
    assert.match(await refused('a.b', {}), /DNS label/);
    assert.match(await refused('a'.repeat(64), {}), /DNS label/);
    await server.expect(409, 'POST', tenants, { body: tenant('a') });
    const renamed = { spec: { hosts: ['b.example.com'] } };
    await server.expect(200, 'PATCH', `${tenants}/a`, { body: renamed, contentType: 'application/merge-patch+json' });
    await server.expect(200, 'GET', '/api/v1/namespaces/default', { headers: { host: 'b.example.com' } });
    await server.make('b', { hosts: ['a.example.com'] });
  });
});

describe('the life of a tenant', () => {
  const patch = (server: TenancyServer, name: string, spec: object) =>
    server.expect(200, 'PATCH', `${tenants}/${name}`, { body: { spec }, contentType: 'application/merge-patch+json' });

  test('it can be suspended to reads, or to nothing, and resumed', async () => {
    await using server = await TenancyServer.open();
    const path = await server.make('demo');
    await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('a') });
    await patch(server, 'demo', { suspension: 'ReadOnly' });
    await server.expect(200, 'GET', `${path}${configMaps}/a`);
    const refused = await server.expect(403, 'POST', `${path}${configMaps}`, { body: configMap('b') });
    assert.match(refused.message, /control plane "demo" is suspended/);
    await server.expect(403, 'DELETE', `${path}${configMaps}/a`);
    const watch = await server.watch(`${path}${configMaps}?watch=true`);
    await patch(server, 'demo', { suspension: 'Offline' });
    await watch.ended();
    await server.expect(503, 'GET', `${path}${configMaps}/a`);
    await server.expect(401, 'GET', `${path}${configMaps}/a`, { token: 'wrong' });
    await patch(server, 'demo', { suspension: null });
    await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('b') });
  });

  test('destroyed it is gone with all its keys, and made again it starts clean', async () => {
    await using server = await TenancyServer.open();
    const path = await server.make('demo', { deletionPolicy: 'Destroy' });
    const uid = async (): Promise<string> =>
      (await server.expect(200, 'GET', `${path}/api/v1/namespaces/default`)).metadata.uid;
    const first = await uid();
    await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('a') });
    await server.expect(200, 'DELETE', `${path}/apis/rbac.authorization.k8s.io/v1/clusterroles/view`);
    const watch = await server.watch(`${path}${configMaps}?watch=true`);
    await server.expect(200, 'DELETE', `${tenants}/demo`);
    await watch.ended();
    assert.deepEqual(
      (await keysOf(server)).filter((key) => key.startsWith('/registry/clusters/demo/')),
      [],
    );
    await server.expect(404, 'GET', `${path}${configMaps}/a`);
    await server.make('demo');
    await server.expect(404, 'GET', `${path}${configMaps}/a`);
    await server.expect(200, 'GET', `${path}/apis/rbac.authorization.k8s.io/v1/clusterroles/view`);
    assert.notEqual(await uid(), first);
  });

  test('retained it is out of reach, and adopted by the same path', async () => {
    await using server = await TenancyServer.open();
    const path = await server.make('demo');
    const { metadata } = await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('a') });
    const { status: issued } = await server.expect(201, 'POST', `${tenants}/demo/kubeconfig`, { body: {} });
    await server.expect(200, 'DELETE', `${tenants}/demo`);
    await server.expect(404, 'GET', `${path}${configMaps}/a`);
    await server.make('demo');
    const again = await server.expect(200, 'GET', `${path}${configMaps}/a`);
    assert.deepEqual([again.metadata.uid, again.metadata.resourceVersion], [metadata.uid, metadata.resourceVersion]);
    assert.match(issued.kubeconfig, /server: https:\/\/127\.0\.0\.1:6443\/clusters\/demo\/control-plane/);
  });

  test('retained data is not adopted by a tenant that refuses it', async () => {
    await using server = await TenancyServer.open();
    const path = await server.make('demo');
    await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('a') });
    await server.expect(200, 'DELETE', `${tenants}/demo`);
    const body = {
      apiVersion: 'tenancy.hangar.dev/v1alpha1',
      kind: 'Tenant',
      metadata: { name: 'demo' },
      spec: { retainedData: 'Refuse' },
    };
    const refused = await server.expect(422, 'POST', tenants, { body });
    assert.match(refused.message, /spec\.retainedData.*data of a deleted tenant is retained under the name "demo"/);
    await server.expect(404, 'GET', `${path}${configMaps}/a`);
    await server.make('demo');
    await server.expect(200, 'GET', `${path}${configMaps}/a`);
  });

  test('one that was destroyed while a write was under way is not written to', async () => {
    await using server = await TenancyServer.open();
    const path = await server.make('demo', { deletionPolicy: 'Destroy' });
    await server.expect(200, 'GET', `${path}/api/v1/namespaces`);
    const stale = (await server.tenancy.open.peek('demo'))!.plane.store;
    await server.expect(200, 'DELETE', `${tenants}/demo`);
    const write = {
      type: 'put',
      key: '/registry/clusters/demo/configmaps/default/late',
      value: Buffer.from('{}'),
    } as const;
    await assert.rejects(stale.commit([write]));
    await server.make('demo');
    await assert.rejects(stale.commit([write]));
    await server.expect(404, 'GET', `${path}${configMaps}/late`);
  });
});

describe('what is idle', () => {
  test('is closed, and opened again by the next request', async () => {
    await using server = await TenancyServer.open();
    const path = await server.make('demo');
    await server.expect(200, 'GET', `${path}/api/v1/namespaces`);
    assert.equal(server.tenancy.open.size, 1);
    server.tenancy.open.drop('demo');
    assert.equal(server.tenancy.open.size, 0);
    await server.expect(200, 'GET', `${path}/api/v1/namespaces`);
  });
});
