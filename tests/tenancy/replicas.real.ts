/** Two Hangars on one etcd serve the same tenants: changes through one of them apply to the other. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { prefixRange } from '@hangar/store';
import { openEtcdStore } from '@hangar/store/etcd';
import { administratorOf, eventually, startHangars, tenant, tenants } from './testing/hangars.ts';
import type { Hangars, Replica } from './testing/hangars.ts';
import type { Data } from './testing/access.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const configMap = (name: string): object => ({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name } });
/** Time for the other replica to receive the event of a tenant. */
const heardMs = 2_000;

describe('two replicas on one etcd', () => {
  let hangars: Hangars;
  let one: Replica;
  let other: Replica;
  let third: Replica;
  before(async () => {
    hangars = await startHangars(3);
    [one, other, third] = hangars.replicas as [Replica, Replica, Replica];
  });
  after(() => hangars[Symbol.asyncDispose]());

  const elsewhere = (replica: Replica, name: string, target: string): Promise<Data> =>
    replica.root.ask('GET', `/clusters/${name}/control-plane${target}`);
  const answers = (replica: Replica, name: string): Promise<true> =>
    eventually(
      `${name} answers`,
      async () => (await elsewhere(replica, name, '/api/v1/namespaces')).status === 200 || undefined,
      heardMs,
    );

  test('a tenant that was made through one answers through the other, to its own administrator too', async () => {
    await one.root.create(tenants, tenant('made'));
    await answers(other, 'made');
    using admin = await administratorOf(one, 'made');
    using there = admin.as({ url: other.tenantUrl('made') });
    const uids = async (access: typeof admin): Promise<string[]> =>
      (await access.get('/api/v1/namespaces')).items.map(({ metadata }: Data) => `${metadata.name} ${metadata.uid}`);
    assert.deepEqual(await uids(there), await uids(admin));
    // Issued by either one.
    using theirs = await administratorOf(other, 'made');
    using here = theirs.as({ url: one.tenantUrl('made') });
    assert.deepEqual(await uids(here), await uids(admin));
  });

  test('a write through one is in the next list of the other, and in its watches', async () => {
    await one.root.create(tenants, tenant('written'));
    await answers(other, 'written');
    using admin = await administratorOf(one, 'written');
    using there = admin.as({ url: other.tenantUrl('written') });
    const { metadata } = await there.get(configMaps);
    const target = `${configMaps}?watch=true&resourceVersion=${metadata.resourceVersion}&timeoutSeconds=30`;
    const told = there.watch(target);
    for (let n = 0; n < 20; n++) {
      const created = await admin.create(configMaps, configMap(`a-${n}`));
      // Without waiting: a list includes everything that was acknowledged before it.
      const { items } = await there.get(configMaps);
      assert.equal(items.length, n + 1);
      const seen = await there.get(`${configMaps}/a-${n}`);
      assert.equal(seen.metadata.resourceVersion, created.metadata.resourceVersion);
      const { value } = await told.next();
      assert.equal(value!.type, 'ADDED');
      assert.deepEqual(value!.object.metadata, created.metadata);
    }
    await told.return();
    await there.remove(`${configMaps}/a-0`);
    await admin.expect(404, 'GET', `${configMaps}/a-0`);
  });

  test('tokens of one are accepted by the other', async () => {
    await one.root.create(tenants, tenant('tokens'));
    using admin = await administratorOf(one, 'tokens');
    await admin.create('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'robot' } });
    const { status } = await admin.create('/api/v1/namespaces/default/serviceaccounts/robot/token', {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      spec: {},
    });
    await answers(other, 'tokens');
    using robot = admin.as({ url: other.tenantUrl('tokens') }).withToken(status.token);
    const review = { kind: 'SelfSubjectReview', apiVersion: 'authentication.k8s.io/v1' };
    const { status: me } = await robot.create('/apis/authentication.k8s.io/v1/selfsubjectreviews', review);
    assert.equal(me.userInfo.username, 'system:serviceaccount:default:robot');
    // And by no other tenant.
    await one.root.create(tenants, tenant('strangers'));
    await answers(other, 'strangers');
    using stranger = admin.as({ url: other.tenantUrl('strangers') }).withToken(status.token);
    await stranger.expect(401, 'GET', '/api/v1/namespaces');
  });

  test('destroyed and made again through one, the old one is neither shown nor written by the other', async () => {
    await one.root.create(tenants, tenant('anew'));
    await answers(other, 'anew');
    using admin = await administratorOf(one, 'anew');
    using there = admin.as({ url: other.tenantUrl('anew') });
    await there.create(configMaps, configMap('old'));
    for (let round = 0; round < 5; round++) {
      await one.root.remove(`${tenants}/anew`);
      await one.root.create(tenants, tenant('anew'));
      const path = '/clusters/anew/control-plane';
      // At once, through a replica that may not have received the event: refused, or written into the new one.
      const wrote = await other.root.ask('POST', `${path}${configMaps}`, { body: configMap(`late-${round}`) });
      assert.ok([201, 404, 503].includes(wrote.status), `${wrote.status} ${wrote.bytes.toString()}`);
      const { items } = await one.root.get(`${path}${configMaps}`);
      const names = items.map(({ metadata }: Data) => metadata.name);
      assert.deepEqual(names, wrote.status === 201 ? [`late-${round}`] : []);
      await eventually(
        'the other one shows the new one',
        async () => {
          const got = await other.root.ask('GET', `${path}${configMaps}`);
          return got.status === 200 && got.data.items.length === names.length;
        },
        heardMs,
      );
      // The certificate of the old one's CA is invalid in the new one.
      await eventually(
        'the old credentials are refused',
        async () => (await there.ask('GET', '/api/v1/namespaces')).status === 401,
        heardMs,
      );
    }
  });

  test('suspended through one, a tenant is suspended on the other, and resumed with it', async () => {
    await one.root.create(tenants, tenant('asleep'));
    await answers(other, 'asleep');
    const path = '/clusters/asleep/control-plane';
    const writes = (status: number): Promise<true> =>
      eventually(
        `a write answers ${status}`,
        async () => {
          const got = await other.root.ask('POST', `${path}${configMaps}?dryRun=All`, { body: configMap('a') });
          return got.status === status || undefined;
        },
        heardMs,
      );
    await writes(201);
    await one.root.merge(`${tenants}/asleep`, { spec: { suspension: 'ReadOnly' } });
    await writes(403);
    await other.root.get(`${path}${configMaps}`);
    await one.root.merge(`${tenants}/asleep`, { spec: { suspension: 'Offline' } });
    await writes(503);
    await other.root.merge(`${tenants}/asleep`, { spec: { suspension: null } });
    await writes(201);
  });

  test('materialised through one, the other has no base any more either', async () => {
    await one.root.create(tenants, tenant('own'));
    await answers(other, 'own');
    const [path, roles] = ['/clusters/own/control-plane', '/apis/rbac.authorization.k8s.io/v1/clusterroles'];
    const before = (await other.root.get(`${path}${roles}`)).items.map(({ metadata }: Data) => metadata.uid);
    await one.root.expect(200, 'POST', `${tenants}/own/materialise`);
    await one.root.remove(`${path}${roles}/system:node`);
    await eventually(
      'it is gone on the other one',
      async () => (await other.root.ask('GET', `${path}${roles}/system:node`)).status === 404,
      heardMs,
    );
    const { items } = await other.root.get(`${path}${roles}`);
    assert.equal(items.length, before.length - 1);
    await other.root.remove(`${path}${roles}/system:discovery`);
    await one.root.expect(404, 'GET', `${path}${roles}/system:discovery`);
  });

  test('a backup that one made is restored through the other', async () => {
    await one.root.create(tenants, tenant('kept'));
    using admin = await administratorOf(one, 'kept');
    for (let n = 0; n < 50; n++) await admin.create(configMaps, configMap(`a-${n}`));
    const { status, bytes } = await one.root.ask('POST', `${tenants}/kept/backup?includeKeys=true`);
    assert.equal(status, 200);
    await one.root.remove(`${tenants}/kept`);
    const contentType = 'application/octet-stream';
    await other.root.expect(400, 'POST', `${tenants}/kept/restore`, { body: bytes.subarray(0, -1), contentType });
    await other.root.expect(201, 'POST', `${tenants}/kept/restore`, { body: bytes, contentType });
    await answers(one, 'kept');
    // The backup contains its keys: the same certificate is valid.
    const { items } = await admin.get(configMaps);
    assert.equal(items.length, 50);
  });

  test('a replica that is killed in the middle of a restore leaves no tenant, and another one restores it', async () => {
    await one.root.create(tenants, tenant('source'));
    using admin = await administratorOf(one, 'source');
    const data = { x: 'x'.repeat(100_000) };
    for (let n = 0; n < 60; n++) await admin.create(configMaps, { ...configMap(`a-${n}`), data });
    const { bytes } = await one.root.ask('POST', `${tenants}/source/backup`);
    // All but the end: it waits for the rest.
    const half = third.root.upload('POST', `${tenants}/half/restore`, bytes.length);
    half.write(bytes.subarray(0, -100));
    const store = await openEtcdStore({ endpoints: [hangars.etcdUrl] });
    try {
      const keys = async (): Promise<number> => (await store.statistics(prefixRange('/registry/clusters/half/'))).keys;
      await eventually('most of it is imported', async () => (await keys()) > 20);
      await third.plane.stop();
      half.destroy();
      assert.ok((await keys()) > 20);
      await other.root.expect(404, 'GET', `${tenants}/half`);
      await other.root.expect(404, 'GET', `/clusters/half/control-plane${configMaps}`);
      const contentType = 'application/octet-stream';
      await other.root.expect(201, 'POST', `${tenants}/half/restore?deletionPolicy=Destroy`, {
        body: bytes,
        contentType,
      });
      const { items } = await other.root.get(`/clusters/half/control-plane${configMaps}`);
      assert.equal(items.length, 60);
      await other.root.remove(`${tenants}/half`);
      assert.equal(await keys(), 0);
    } finally {
      await store.close();
    }
  });
});
