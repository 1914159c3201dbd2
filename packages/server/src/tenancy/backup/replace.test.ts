import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { describe, test } from 'node:test';
import { parseYaml } from '@hangar/api';
import { systemClock, systemRandom } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { openMemoryStore, prefixRange, StoreError } from '@hangar/store';
import type { Store, Write } from '@hangar/store';
import { RbacAuthorizer } from '../../auth/authorization/rbac/rbac-authorizer.ts';
import { EncryptedStore, encryptionOf } from '../../encryption/index.ts';
import { ForwardingStore } from '../../objects/forwarding-store.ts';
import { anonymousPeer, planePath, tenants, TenancyServer } from '../../testing/tenancy-server.ts';
import { configMap, configMaps } from '../../testing/test-server.ts';
import type { Data } from '../../testing/test-server.ts';
import { FeedRecorder } from '../feed/testing.ts';
import { backup, restore } from './testing.ts';

const secrets = '/api/v1/namespaces/default/secrets';
const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
const replace = 'demo/restore?replace=true';
const merge = 'application/merge-patch+json';

/** Creates a tenant, backs it up and changes it: objects and base objects are created, changed and deleted. */
async function changed(server: TenancyServer, query = ''): Promise<Buffer> {
  const path = await server.make('demo');
  for (const name of ['a', 'b', 'same']) {
    await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap(name, { k: 'old' }) });
  }
  await server.expect(201, 'POST', `${path}${secrets}`, { body: { metadata: { name: 's' }, stringData: { p: 'q' } } });
  await server.expect(200, 'DELETE', `${path}${roles}/system:discovery`);
  const file = await backup(server, 'demo', query);
  await server.expect(200, 'DELETE', `${path}${configMaps}/a`);
  await server.expect(200, 'PATCH', `${path}${configMaps}/b`, { body: { data: { k: 'new' } }, contentType: merge });
  await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('c') });
  await server.expect(200, 'DELETE', `${path}${roles}/system:node`);
  return file;
}

const names = async (server: TenancyServer, target: string): Promise<string[]> => {
  const { items } = await server.expect(200, 'GET', `${planePath('demo')}${target}`);
  return items.map(({ metadata }: Data) => metadata.name);
};

/** Returns the objects without their resourceVersions. */
async function contents(server: TenancyServer): Promise<Data> {
  const lists = [configMaps, secrets, roles, '/api/v1/namespaces'].map(async (target) => {
    const { items } = await server.expect(200, 'GET', `${planePath('demo')}${target}`);
    for (const { metadata } of items) delete metadata.resourceVersion;
    return items;
  });
  return Promise.all(lists);
}

const keysBelow = async (store: Store, prefix: string): Promise<string[]> =>
  (await store.range(prefixRange(prefix), { keysOnly: true })).entries.map(({ key }) => key);

const leftovers = async (store: Store): Promise<string[]> => [
  ...(await keysBelow(store, '/registry/staged/')),
  ...(await keysBelow(store, '/registry/hangar/restores/')),
];

describe('a restore in place', () => {
  test('replaces all data, and the tenant keeps its object, identity and keys', async () => {
    await using server = await TenancyServer.open();
    const file = await changed(server);
    const object = await server.expect(200, 'GET', `${tenants}/demo`);
    const { status: keys } = await server.expect(201, 'POST', `${tenants}/demo/keys`);
    const { status, data } = await restore(server, replace, file);
    assert.equal(status, 200, JSON.stringify(data));
    assert.deepEqual(await names(server, configMaps), ['a', 'b', 'same']);
    const b = await server.expect(200, 'GET', `${planePath('demo')}${configMaps}/b`);
    assert.deepEqual(b.data, { k: 'old' });
    const shown = await names(server, roles);
    assert.ok(shown.includes('system:node') && !shown.includes('system:discovery'));
    assert.deepEqual(await server.expect(200, 'GET', `${tenants}/demo`), object);
    assert.deepEqual((await server.expect(201, 'POST', `${tenants}/demo/keys`)).status, keys);
    assert.deepEqual(await leftovers(server.store), []);
    await server.expect(201, 'POST', `${planePath('demo')}${configMaps}`, { body: configMap('d') });
  });

  test('ends watches with 410, and no resourceVersion from before is accepted', async () => {
    await using server = await TenancyServer.open();
    const file = await changed(server);
    const path = `${planePath('demo')}${configMaps}`;
    const { metadata } = await server.expect(200, 'GET', path);
    const from = `${path}?watch=true&resourceVersion=${metadata.resourceVersion}`;
    const watch = await server.watch(from);
    assert.equal((await restore(server, replace, file)).status, 200);
    await watch.ended();
    const [event] = await watch.events(1);
    assert.equal(event!.type, 'ERROR');
    assert.equal(event!.object.code, 410);
    const [refused] = await (await server.watch(from)).events(1);
    assert.equal(refused!.object.code, 410);
    const list = await server.expect(200, 'GET', path);
    assert.ok(Number(list.metadata.resourceVersion) > Number(metadata.resourceVersion));
    const same = await server.watch(`${path}?watch=true&resourceVersion=${list.metadata.resourceVersion}`);
    await server.expect(200, 'DELETE', `${path}/b`);
    assert.deepEqual(await same.told(1), ['DELETED b']);
  });

  test('on one server is followed by another server of the same store', async () => {
    const store = await openMemoryStore();
    {
      await using one = await TenancyServer.open({ store });
      await using other = await TenancyServer.open({ store });
      const file = await changed(one);
      await other.tenancy.tenants.reached(await store.revision());
      const { metadata } = await other.expect(200, 'GET', `${planePath('demo')}${configMaps}`);
      const watch = await other.watch(
        `${planePath('demo')}${configMaps}?watch=true&resourceVersion=${metadata.resourceVersion}`,
      );
      assert.equal((await restore(one, replace, file)).status, 200);
      assert.equal((await watch.events(1))[0]!.object.code, 410);
      // The first request finds that the open tenant is fenced off.
      const { status } = await other.request('GET', `${planePath('demo')}${configMaps}`);
      assert.ok(status === 503 || status === 200);
      assert.deepEqual(await names(other, configMaps), ['a', 'b', 'same']);
    }
    await store.close();
  });

  test('takes keys and identity from a backup that includes them', async () => {
    await using server = await TenancyServer.open();
    const file = await changed(server, '?includeKeys=true');
    const uid = async (): Promise<string> =>
      (await server.expect(200, 'GET', `${planePath('demo')}/api/v1/namespaces/kube-public`)).metadata.uid;
    const keys = async (): Promise<Data> => (await server.expect(201, 'POST', `${tenants}/demo/keys`)).status;
    const [oldUid, oldKeys] = [await uid(), await keys()];
    await server.expect(200, 'PATCH', `${tenants}/demo`, {
      body: { spec: { deletionPolicy: 'Destroy' } },
      contentType: merge,
    });
    await server.expect(200, 'DELETE', `${tenants}/demo`);
    await server.make('demo');
    assert.notEqual(await uid(), oldUid);
    assert.equal((await restore(server, replace, file)).status, 200);
    assert.equal(await uid(), oldUid);
    assert.deepEqual(await keys(), oldKeys);
    // The keys of another path would let each tenant accept the users of the other.
    await server.make('other');
    assert.equal((await restore(server, 'other/restore?replace=true', file)).status, 200);
    assert.notDeepEqual((await server.expect(201, 'POST', `${tenants}/other/keys`)).status, oldKeys);
  });

  test('does nothing for the ID of the last restore', async () => {
    await using server = await TenancyServer.open();
    const file = await changed(server);
    assert.equal((await restore(server, `${replace}&restoreId=x1`, file)).status, 200);
    await server.expect(200, 'DELETE', `${planePath('demo')}${configMaps}/a`);
    assert.equal((await restore(server, `${replace}&restoreId=x1`, file)).status, 200);
    assert.deepEqual(await names(server, configMaps), ['b', 'same']);
    assert.equal((await restore(server, `${replace}&restoreId=x2`, file)).status, 200);
    assert.deepEqual(await names(server, configMaps), ['a', 'b', 'same']);
    assert.equal((await restore(server, `${replace}&restoreId=`, file)).status, 400);
  });

  test('is refused as a whole for a damaged or truncated backup, a dry run changes nothing', async () => {
    await using server = await TenancyServer.open();
    const file = await changed(server);
    const before = await contents(server);
    const damaged = Buffer.from(file);
    damaged[damaged.length - 30]! ^= 1;
    for (const bad of [damaged, file.subarray(0, -5), Buffer.from('x')]) {
      assert.equal((await restore(server, replace, bad)).status, 400);
    }
    assert.equal((await restore(server, `${replace}&dryRun=All`, file)).status, 200);
    assert.equal((await restore(server, `${replace}&suspension=ReadOnly`, file)).status, 400);
    assert.equal((await restore(server, 'missing/restore?replace=true', file)).status, 404);
    assert.deepEqual(await contents(server), before);
    assert.deepEqual(await leftovers(server.store), []);
  });

  test('requires the right to create tenants/replace', async () => {
    await using server = await TenancyServer.open({
      tokens: [{ token: 'bob', user: 'bob', uid: 'bob', groups: [] }],
      authorizers: (plane) => [new RbacAuthorizer(plane.policy)],
    });
    const file = await changed(server);
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    const rules = [{ apiGroups: ['tenancy.hangar.dev'], resources: ['tenants', 'tenants/restore'], verbs: ['*'] }];
    await server.expect(201, 'POST', `${rbac}/clusterroles`, { body: { metadata: { name: 'r' }, rules } });
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'r' };
    const subjects = [{ kind: 'User', name: 'bob', apiGroup: 'rbac.authorization.k8s.io' }];
    const binding = { metadata: { name: 'r' }, roleRef, subjects };
    await server.expect(201, 'POST', `${rbac}/clusterrolebindings`, { body: binding });
    await server.root.policy.fresh();
    const { status, data } = await restore(server, replace, file, 'bob');
    assert.equal(status, 403);
    assert.match(data.message, /cannot create resource "tenants\/replace"/);
  });

  test('controllers receive the control plane as deleted and then as created again', async () => {
    await using server = await TenancyServer.open();
    const file = await changed(server);
    await using recorder = await FeedRecorder.open(server, ({ resource }) => resource === 'configmaps');
    recorder.news();
    assert.equal((await restore(server, replace, file)).status, 200);
    await recorder.until(() => recorder.told.includes('told demo'));
    assert.deepEqual(recorder.news(), [
      'gone demo',
      'cluster demo',
      ...['a', 'b', 'same'].map((name) => `initial put demo configmaps default/${name}`),
      'told demo',
    ]);
    await server.expect(200, 'DELETE', `${planePath('demo')}${configMaps}/a`);
    await recorder.until(() => recorder.told.includes('delete demo configmaps default/a'));
  });

  test('never makes a user of the tenant unknown to it', async () => {
    const memory = await openMemoryStore();
    // Each read of the keys is followed by a switch of the identity, as when a restore runs at the same time.
    const store = new ChangingStore(memory);
    {
      await using server = await TenancyServer.open({ store });
      await server.make('demo');
      const { status } = await server.expect(201, 'POST', `${tenants}/demo/kubeconfig`);
      const { users } = parseYaml(status.kubeconfig).value as Data;
      const certificate = Buffer.from(users[0].user['client-certificate-data'], 'base64').toString();
      store.changes = 2;
      const der = new X509Certificate(certificate).raw;
      const peer = { ...anonymousPeer, unverified: { der: () => der } };
      const target = `${planePath('demo')}${configMaps}`;
      const answer = await server.answer('GET', target, { peer, token: '' } as never);
      assert.equal(answer.status, 200);
      assert.equal(store.changes, 0);
    }
    await memory.close();
  });

  test('stages values encrypted at rest', async () => {
    const raw = await openMemoryStore();
    const spy = new RecordingStore(raw);
    const configuration = JSON.stringify({
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'EncryptionConfiguration',
      resources: [
        {
          resources: ['secrets'],
          providers: [{ secretbox: { keys: [{ name: 'key1', secret: Buffer.alloc(32, 1).toString('base64') }] } }],
        },
      ],
    });
    const store = new EncryptedStore(spy, encryptionOf(configuration, '/registry', systemRandom));
    {
      await using server = await TenancyServer.open({ store });
      const file = await changed(server, '?includeKeys=true');
      assert.equal((await restore(server, replace, file)).status, 200);
      for (const name of ['secrets/default/s', '.hangar/keys']) {
        const staged = spy.written.get(`/registry/staged/demo/${name}`);
        assert.match(Buffer.from(staged!).toString('latin1'), /^k8s:enc:secretbox:v1:key1:/, name);
      }
    }
    await raw.close();
  });
});

/** Fires timers of five seconds, after which a replacement is taken over, at once. */
const hastyClock: Clock = {
  now: () => systemClock.now(),
  monotonicMs: () => systemClock.monotonicMs(),
  after: (ms, callback) => systemClock.after(ms === 5_000 ? 1 : ms, callback),
  soon: (callback) => systemClock.soon(callback),
};

/** Store that fails from some commit on, like a server that was killed: before the commit, or after it. */
class KilledStore extends ForwardingStore {
  left = Number.POSITIVE_INFINITY;
  isApplied = false;

  override async commit(writes: readonly Write[]): ReturnType<Store['commit']> {
    const isOfRestore = writes.some(
      (write) =>
        write.type !== 'deleteRange' &&
        (/^\/registry\/(staged|hangar\/restores)\//.test(write.key) ||
          write.key.startsWith('/registry/clusters/demo/')),
    );
    if (!isOfRestore) return this.store.commit(writes);
    if (this.left-- > 0) return this.store.commit(writes);
    if (this.left === -1 && this.isApplied) await this.store.commit(writes);
    throw new StoreError('Unavailable', 'killed');
  }
}

/** Changes the identity of the tenant after a read of its keys. */
class ChangingStore extends ForwardingStore {
  changes = 0;

  override async get(...asked: Parameters<Store['get']>): ReturnType<Store['get']> {
    const result = await this.store.get(...asked);
    if (asked[0] !== '/registry/clusters/demo/.hangar/keys' || this.changes === 0) return result;
    this.changes--;
    const { entry } = await this.store.get('/registry/clusters/demo/.hangar/tenant');
    await this.store.commit([{ type: 'put', key: entry!.key, value: entry!.value }]);
    return result;
  }
}

class RecordingStore extends ForwardingStore {
  readonly written = new Map<string, Uint8Array>();

  override commit(writes: readonly Write[]): ReturnType<Store['commit']> {
    for (const write of writes) if (write.type === 'put') this.written.set(write.key, write.value);
    return this.store.commit(writes);
  }
}

describe('a restore in place that is killed', () => {
  for (const isApplied of [false, true]) {
    test(`${isApplied ? 'after' : 'before'} any of its transactions has replaced all data or none`, async () => {
      const outcomes = new Set<string>();
      for (let commits = 0; ; commits++) {
        const memory = await openMemoryStore();
        const store = new KilledStore(memory);
        store.isApplied = isApplied;
        let file: Buffer, before: Data, after: Data, status: number;
        {
          await using server = await TenancyServer.open({ store });
          file = await changed(server);
          before = await contents(server);
          store.left = commits;
          ({ status } = await restore(server, replace, file));
        }
        {
          await using server = await TenancyServer.open({ store: memory, clock: hastyClock });
          await until(async () => {
            const { status: answered } = await server.request('GET', `${planePath('demo')}${configMaps}`);
            return answered === 200;
          });
          after = await contents(server);
          const isOld = isEqual(after, before);
          outcomes.add(isOld ? 'old' : 'new');
          if (status === 200) assert.ok(!isOld, 'an acknowledged restore is complete');
          // Restored again, both outcomes are the same, and nothing is left.
          assert.equal((await restore(server, replace, file)).status, 200);
          const again = await contents(server);
          if (!isOld) assert.deepEqual(after, again);
          assert.deepEqual(await leftovers(memory), []);
        }
        await memory.close();
        if (status === 200 && store.left > 0) break;
        assert.ok(commits < 50, 'the restore never completed');
      }
      assert.deepEqual([...outcomes].sort(), ['new', 'old']);
    });
  }

  test('keeps the tenant: data that is replaced in part is neither served, backed up nor retained', async () => {
    const memory = await openMemoryStore();
    const store = new KilledStore(memory);
    {
      await using server = await TenancyServer.open({ store });
      const file = await changed(server);
      // begin, one batch, switch; then the copy fails.
      store.left = 3;
      assert.equal((await restore(server, replace, file)).status, 503);
      store.left = Number.POSITIVE_INFINITY;
      const refusal = await server.request('GET', `${planePath('demo')}${configMaps}`);
      assert.equal(refusal.status, 503);
      assert.equal(refusal.headers['retry-after'], '1');
      assert.match(refusal.data.message, /control plane "demo" is being restored/);
      for (const operation of ['backup', 'materialise']) {
        await server.expect(503, 'POST', `${tenants}/demo/${operation}`);
      }
      assert.equal((await restore(server, replace, file)).status, 503);
      await server.expect(503, 'DELETE', `${tenants}/demo`);
      await server.expect(200, 'PATCH', `${tenants}/demo`, {
        body: { spec: { deletionPolicy: 'Destroy' } },
        contentType: merge,
      });
      await server.expect(200, 'DELETE', `${tenants}/demo`);
      assert.deepEqual(await leftovers(memory), []);
      assert.deepEqual(await keysBelow(memory, '/registry/clusters/demo/'), []);
    }
    await memory.close();
  });
});

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

async function until(check: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; !(await check()); attempt++) {
    assert.ok(attempt < 1_000, 'timed out');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
