import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemRandom } from '@hangar/core';
import { openMemoryStore, prefixRange, StoreError } from '@hangar/store';
import type { Store, Write } from '@hangar/store';
import { EncryptedStore, encryptionOf } from '../../encryption/index.ts';
import { isStreaming } from '../../http/message.ts';
import { ForwardingStore } from '../../objects/forwarding-store.ts';
import { planePath, tenant, tenants, TenancyServer } from '../../testing/tenancy-server.ts';
import { configMap, configMaps, definition, definitions, widget, widgets } from '../../testing/test-server.ts';
import type { Data } from '../../testing/test-server.ts';
import { backup, backupAnswer, Collected, restore } from './testing.ts';

const secrets = '/api/v1/namespaces/default/secrets';
const merge = 'application/merge-patch+json';
const events = '/api/v1/namespaces/default/events';

/** Creates a tenant with built-in and custom objects, and a changed and a deleted base object. */
async function fill(server: TenancyServer, name: string): Promise<void> {
  const path = await server.make(name);
  await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('a', { k: 'v' }) });
  await server.expect(201, 'POST', `${path}${secrets}`, {
    body: { metadata: { name: 's' }, stringData: { password: 'guess' } },
  });
  await server.expect(201, 'POST', `${path}${definitions}`, { body: definition() });
  await server.expect(201, 'POST', `${path}${widgets}`, { body: widget('w', { size: 3 }) });
  await server.expect(200, 'DELETE', `${path}/apis/rbac.authorization.k8s.io/v1/clusterroles/system:discovery`);
  await server.expect(200, 'PATCH', `${path}/api/v1/namespaces/kube-public`, {
    body: { metadata: { labels: { changed: 'yes' } } },
    contentType: merge,
  });
}

const shown = [
  '/api/v1/namespaces',
  configMaps,
  secrets,
  definitions,
  widgets,
  '/apis/rbac.authorization.k8s.io/v1/clusterroles',
];

/** Returns the compared objects without the fields that a restore recreates. */
async function contents(server: TenancyServer, name: string): Promise<Data> {
  const lists = shown.map(async (target) => {
    const { items } = await server.expect(200, 'GET', `${planePath(name)}${target}`);
    for (const { metadata } of items) delete metadata.resourceVersion;
    return items;
  });
  return Promise.all(lists);
}

const keysIn = async (store: Store, name: string): Promise<string[]> => {
  const { entries } = await store.range(prefixRange(`/registry/clusters/${name}/`), { keysOnly: true });
  return entries.map(({ key }) => key);
};

const sealing = (store: Store, key: number): Store => {
  const secret = Buffer.alloc(32, key).toString('base64');
  const providers = [{ secretbox: { keys: [{ name: `key${key}`, secret }] } }, { identity: {} }];
  const configuration = {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [{ resources: ['secrets'], providers }],
  };
  return new EncryptedStore(store, encryptionOf(JSON.stringify(configuration), '/registry', systemRandom));
};

describe('a backup', () => {
  test('is a file with a name, and the tenant is the same after it was restored under another path', async () => {
    await using server = await TenancyServer.open();
    await fill(server, 'demo');
    const { headers, body } = await backupAnswer(server, 'demo');
    assert.equal(headers['content-type'], 'application/octet-stream');
    assert.match(String(headers['content-disposition']), /^attachment; filename="demo-\d+\.hangar-backup"$/);
    assert.ok(isStreaming(body));
    const file = await backup(server, 'demo');
    const { status, data } = await restore(server, 'copy/restore', file);
    assert.equal(status, 201, JSON.stringify(data));
    assert.equal(data.kind, 'Tenant');
    assert.equal(data.spec.deletionPolicy, 'Retain');
    assert.deepEqual(await contents(server, 'copy'), await contents(server, 'demo'));
    const roles = (await contents(server, 'copy')).at(-1).map((role: Data) => role.metadata.name);
    assert.ok(!roles.includes('system:discovery'));
    // The copy is a separate tenant.
    await server.expect(200, 'DELETE', `${planePath('copy')}${configMaps}/a`);
    await server.expect(200, 'GET', `${planePath('demo')}${configMaps}/a`);
  });

  test('restores into another server with other encryption keys, and nothing sealed is in it', async () => {
    await using fromStore = await openMemoryStore().then(disposable);
    await using toStore = await openMemoryStore().then(disposable);
    await using from = await TenancyServer.open({ store: sealing(fromStore.store, 1) });
    await using to = await TenancyServer.open({ store: sealing(toStore.store, 2) });
    await fill(from, 'demo');
    const file = await backup(from, 'demo');
    assert.ok(!file.includes('k8s:enc:'));
    assert.equal((await restore(to, 'demo/restore', file)).status, 201);
    const raw = (await toStore.store.get('/registry/clusters/demo/secrets/default/s')).entry!.value;
    assert.match(Buffer.from(raw).toString('latin1'), /^k8s:enc:secretbox:v1:key2:/);
    assert.deepEqual(await contents(to, 'demo'), await contents(from, 'demo'));
  });

  test('is as of one revision, whatever is written while it is taken', async () => {
    await using server = await TenancyServer.open();
    const path = await server.make('demo');
    const data = { x: 'x'.repeat(2_000) };
    for (let n = 0; n < 200; n++) {
      await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap(`a-${1000 + n}`, data) });
    }
    const { body } = await backupAnswer(server, 'demo');
    let writes = 0;
    const sink = new Collected(async () => {
      if (writes++ > 0) return;
      await server.expect(200, 'DELETE', `${path}${configMaps}`);
      await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('zz') });
    });
    assert.ok(isStreaming(body));
    body.start(sink);
    assert.equal(await sink.ended.promise, 'whole');
    assert.ok(sink.chunks.length > 3, 'it was sent in several pieces');
    assert.equal((await restore(server, 'copy/restore', Buffer.concat(sink.chunks))).status, 201);
    const { items } = await server.expect(200, 'GET', `${planePath('copy')}${configMaps}`);
    assert.equal(items.length, 200);
  });

  test('whose history is compacted on the way is broken off, and what came of it is refused', async () => {
    await using server = await TenancyServer.open();
    const path = await server.make('demo');
    for (let n = 0; n < 200; n++) {
      const body = configMap(`a-${1000 + n}`, { x: 'x'.repeat(2_000) });
      await server.expect(201, 'POST', `${path}${configMaps}`, { body });
    }
    const { body } = await backupAnswer(server, 'demo');
    const sink = new Collected(async () => {
      await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap(`b-${sink.chunks.length}`) });
      await server.store.compact(await server.store.revision());
    });
    assert.ok(isStreaming(body));
    body.start(sink);
    assert.equal(await sink.ended.promise, 'broken off');
    (server.problems as Error[]).length = 0;
    const { status, data } = await restore(server, 'copy/restore', Buffer.concat(sink.chunks));
    assert.equal(status, 400);
    assert.match(data.message, /the backup cannot be restored: .*it is truncated/);
    assert.deepEqual(await keysIn(server.store, 'copy'), []);
  });

  test('is taken of a suspended tenant, too, and of nobody that is not there', async () => {
    await using server = await TenancyServer.open();
    await fill(server, 'demo');
    const before = await contents(server, 'demo');
    const body = { spec: { suspension: 'Offline' } };
    await server.expect(200, 'PATCH', `${tenants}/demo`, { body, contentType: merge });
    const file = await backup(server, 'demo');
    assert.equal((await restore(server, 'copy/restore', file)).status, 201);
    assert.deepEqual(await contents(server, 'copy'), before);
    await server.expect(404, 'POST', `${tenants}/nobody/backup`);
  });

  test('leaves out what expires by itself', async () => {
    await using server = await TenancyServer.open();
    const path = await server.make('demo');
    const involvedObject = { kind: 'ConfigMap', apiVersion: 'v1', name: 'a', namespace: 'default' };
    const body = { metadata: { name: 'e' }, involvedObject, reason: 'Tested', type: 'Normal' };
    await server.expect(201, 'POST', `${path}${events}`, { body });
    assert.equal((await restore(server, 'copy/restore', await backup(server, 'demo'))).status, 201);
    assert.deepEqual((await server.expect(200, 'GET', `${planePath('copy')}${events}`)).items, []);
  });
});

describe('keys of a tenant', () => {
  const keysOf = async (server: TenancyServer, name: string): Promise<Data> =>
    (await server.expect(201, 'POST', `${tenants}/${name}/keys`)).status;

  test('are not in a backup unless it is asked for', async () => {
    await using server = await TenancyServer.open();
    await server.make('demo', { deletionPolicy: 'Destroy' });
    const keys = await keysOf(server, 'demo');
    const file = await backup(server, 'demo');
    await server.expect(200, 'DELETE', `${tenants}/demo`);
    assert.equal((await restore(server, 'demo/restore', file)).status, 201);
    assert.notDeepEqual(await keysOf(server, 'demo'), keys);
  });

  test('stay under the same path, and never come to another one', async () => {
    await using server = await TenancyServer.open();
    await server.make('demo', { deletionPolicy: 'Destroy' });
    const keys = await keysOf(server, 'demo');
    const file = await backup(server, 'demo', '?includeKeys=true');
    await server.expect(200, 'DELETE', `${tenants}/demo`);
    assert.equal((await restore(server, 'other/restore', file)).status, 201);
    assert.equal((await restore(server, 'demo/restore', file)).status, 201);
    assert.deepEqual(await keysOf(server, 'demo'), keys);
    const other = await keysOf(server, 'other');
    assert.notEqual(other.authority.certificate, keys.authority.certificate);
    assert.notEqual(other.serviceAccountPublicKey, keys.serviceAccountPublicKey);
  });
});

describe('a restore', () => {
  test('gives the new tenant what it is told', async () => {
    await using server = await TenancyServer.open();
    await server.make('demo');
    const file = await backup(server, 'demo');
    const told = await restore(server, 'copy/restore?deletionPolicy=Destroy&suspension=ReadOnly', file);
    assert.equal(told.status, 201);
    assert.deepEqual(told.data.spec, { deletionPolicy: 'Destroy', suspension: 'ReadOnly' });
    await server.expect(403, 'POST', `${planePath('copy')}${configMaps}`, { body: configMap('a') });
    assert.equal((await restore(server, 'other/restore?deletionPolicy=Maybe', file)).status, 422);
    assert.equal((await restore(server, 'root/restore', file)).status, 422);
    const withSpec = (spec: unknown) => `other/restore?spec=${encodeURIComponent(JSON.stringify(spec))}`;
    for (const wrong of ['{', 'null', '[]', '"a"']) {
      assert.equal((await restore(server, `other/restore?spec=${wrong}`, file)).status, 400, wrong);
    }
    for (const wrong of [{ quota: { objects: -1 } }, { hosts: 'a' }, { hosts: ['localhost'] }]) {
      assert.equal((await restore(server, withSpec(wrong), file)).status, 422, JSON.stringify(wrong));
    }
    assert.deepEqual(await keysIn(server.store, 'other'), []);
    const spec = { quota: { objects: 0 }, hosts: ['other.example.com'] };
    const whole = await restore(server, `${withSpec({ ...spec, nobodyKnows: 1 })}&deletionPolicy=Destroy`, file);
    assert.equal(whole.status, 201, JSON.stringify(whole.data));
    assert.deepEqual(whole.data.spec, { ...spec, deletionPolicy: 'Destroy' });
    const headers = { host: 'other.example.com' };
    const refused = await server.expect(403, 'POST', configMaps, { body: configMap('a'), headers });
    assert.match(refused.message, /exceeded quota: tenant "other"/);
  });

  test('is refused where there is a tenant, or what was retained of one', async () => {
    await using server = await TenancyServer.open();
    await fill(server, 'demo');
    const file = await backup(server, 'demo');
    assert.equal((await restore(server, 'demo/restore', file)).status, 409);
    await server.expect(200, 'DELETE', `${tenants}/demo`);
    const kept = await keysIn(server.store, 'demo');
    const { status, data } = await restore(server, 'demo/restore', file);
    assert.equal(status, 409);
    assert.match(data.message, /retained data exists under this path/);
    assert.deepEqual(await keysIn(server.store, 'demo'), kept);
  });

  test('for a try reads the file and writes nothing', async () => {
    await using server = await TenancyServer.open();
    await fill(server, 'demo');
    const file = await backup(server, 'demo');
    const before = await server.store.revision();
    assert.equal((await restore(server, 'copy/restore?dryRun=All', file)).status, 201);
    assert.equal((await restore(server, 'copy/restore?dryRun=All', file.subarray(0, -1))).status, 400);
    assert.equal(await server.store.revision(), before);
  });

  test('that is still coming is no tenant yet, and gives way to one that is made under its path', async () => {
    await using server = await TenancyServer.open();
    await fill(server, 'demo');
    const file = await backup(server, 'demo');
    const gate = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const restoring = restore(
      server,
      'copy/restore',
      (async function* () {
        yield file.subarray(0, file.length - 10);
        reached.resolve();
        await gate.promise;
        yield file.subarray(file.length - 10);
      })(),
    );
    await reached.promise;
    await until(async () => (await keysIn(server.store, 'copy')).length > 0);
    await server.expect(404, 'GET', `${planePath('copy')}/api/v1/namespaces`);
    await server.expect(404, 'GET', `${tenants}/copy`);
    await server.expect(201, 'POST', tenants, { body: tenant('copy') });
    gate.resolve();
    const { status, data } = await restoring;
    assert.equal(status, 409, JSON.stringify(data));
    assert.deepEqual((await server.expect(200, 'GET', `${planePath('copy')}${configMaps}`)).items, []);
    assert.ok(
      (await keysIn(server.store, 'copy')).every((key) => key.includes('/.hangar/') && !key.endsWith('importing')),
    );
  });

  test('that the store cuts off, even from cleaning up, leaves no tenant, and the next one succeeds', async () => {
    const memory = await openMemoryStore();
    const store = new FailingStore(memory);
    {
      await using server = await TenancyServer.open({ store });
      await fill(server, 'demo');
      const file = await backup(server, 'demo');
      // The mark is written. Writing the entries fails, and so does their deletion.
      store.fails = [false, true, true];
      assert.equal((await restore(server, 'copy/restore', file)).status, 503);
      assert.deepEqual(await keysIn(memory, 'copy'), ['/registry/clusters/copy/.hangar/importing']);
      await server.expect(404, 'GET', `${planePath('copy')}/api/v1/namespaces`);
      assert.equal((await restore(server, 'copy/restore', file)).status, 201);
      assert.deepEqual(await contents(server, 'copy'), await contents(server, 'demo'));
    }
    await memory.close();
  });

  for (const next of ['made', 'restored'] as const) {
    test(`that a crash cut off leaves nothing in a tenant that is ${next} under its path`, async () => {
      await using server = await TenancyServer.open();
      const path = await server.make('demo');
      await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('a') });
      const file = await backup(server, 'demo');
      const left = '/registry/clusters/copy/';
      await server.store.commit([
        { type: 'put', key: `${left}.hangar/importing`, value: Buffer.from('{}') },
        { type: 'put', key: `${left}.hangar/keys`, value: Buffer.from('?') },
        { type: 'put', key: `${left}configmaps/default/left`, value: Buffer.from('{}') },
        { type: 'put', key: `${left}.hidden/namespaces/default`, value: Buffer.alloc(0) },
      ]);
      if (next === 'made') await server.make('copy');
      else assert.equal((await restore(server, 'copy/restore', file)).status, 201);
      const { items } = await server.expect(200, 'GET', `${planePath('copy')}${configMaps}`);
      assert.deepEqual(
        items.map((item: Data) => item.metadata.name),
        next === 'made' ? [] : ['a'],
      );
      await server.expect(200, 'GET', `${planePath('copy')}/api/v1/namespaces/default`);
      assert.ok(!(await keysIn(server.store, 'copy')).includes(`${left}.hangar/importing`));
    });
  }

  test('that is repeated with the same ID returns the tenant of the first request', async () => {
    await using server = await TenancyServer.open();
    await fill(server, 'demo');
    const file = await backup(server, 'demo');
    const first = await restore(server, 'copy/restore?restoreId=x1', file);
    assert.equal(first.status, 201);
    assert.equal(first.data.metadata.annotations['tenancy.hangar.dev/restore-id'], 'x1');
    const again = await restore(server, 'copy/restore?restoreId=x1', file);
    assert.equal(again.status, 200);
    assert.deepEqual(again.data, first.data);
    assert.equal((await restore(server, 'copy/restore?restoreId=x2', file)).status, 409);
    assert.equal((await restore(server, 'copy/restore', file)).status, 409);
  });

  test('needs the right to create tenants/restore', async () => {
    const tokens = [{ token: 'reader', user: 'reader', uid: 'reader', groups: [] }];
    await using server = await TenancyServer.open({ tokens });
    await server.make('demo');
    for (const operation of ['backup', 'restore', 'materialise', 'keys']) {
      const { message } = await server.expect(403, 'POST', `${tenants}/demo/${operation}`, { token: 'reader' });
      assert.match(message, new RegExp(`cannot create resource "tenants/${operation}"`));
    }
  });
});

/** Store in which selected commits in the range of `copy` fail. */
class FailingStore extends ForwardingStore {
  fails: boolean[] = [];

  override commit(writes: readonly Write[]): ReturnType<Store['commit']> {
    const isOfCopy = writes.some(
      (write) => write.type !== 'deleteRange' && write.key.startsWith('/registry/clusters/copy/'),
    );
    if (isOfCopy && this.fails.shift()) return Promise.reject(new StoreError('Unavailable', 'no leader'));
    return this.store.commit(writes);
  }
}

async function until(check: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; !(await check()); attempt++) {
    assert.ok(attempt < 1_000, 'in vain');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const disposable = (store: Store) => ({ store, [Symbol.asyncDispose]: () => store.close() });
