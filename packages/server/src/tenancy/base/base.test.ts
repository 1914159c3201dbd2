import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemClock, systemRandom } from '@hangar/core';
import { layeredStore, openMemoryStore, prefixRange } from '@hangar/store';
import type { Base } from '@hangar/store';
import { openControlPlane } from '../../open-control-plane.ts';
import { startInProcess } from '../../testing/in-process.ts';
import { baseUid } from './uid.ts';
import { openTenantBase } from './base.ts';

const options = {
  serviceAddress: '10.0.0.1',
  serviceCidr: '10.0.0.0/24',
  endpoint: { address: '127.0.0.1', port: 6443 },
};
const identity = { seed: 'a-seed', createdAt: '2026-05-04T03:02:01Z' };
const uidPattern = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const timePattern = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;

const keysOf = (base: Base): readonly string[] => base.keysIn({ start: '' });
const textOf = (base: Base, key: string): string => Buffer.from(base.value(key)!).toString();
const all = (base: Base): Record<string, string> =>
  Object.fromEntries(keysOf(base).map((key) => [key, textOf(base, key)]));

describe('the base of tenants', () => {
  test('has what a new control plane stores, and nothing else', async () => {
    const base = await openTenantBase(options);
    const layer = base.layer(identity);
    const store = await openMemoryStore();
    const { plane, close } = await openControlPlane({
      name: 'root',
      prefix: '/registry',
      store,
      clock: systemClock,
      random: systemRandom,
      bootstrap: options,
    });
    close();
    const { entries } = await store.range(prefixRange(plane.prefix));
    const same = (text: string): string =>
      text
        .replaceAll(uidPattern, 'uid')
        .replaceAll(timePattern, 'time')
        .replaceAll(/"since":"[^"]*"/g, 'date');
    assert.equal(base.size, entries.length);
    assert.equal(layer.size, entries.length);
    for (const { key, value } of entries) {
      const relative = key.slice(plane.prefix.length);
      assert.equal(same(textOf(layer, relative)), same(Buffer.from(value).toString()), relative);
      assert.equal(layer.valueLength(relative), layer.value(relative)!.length);
    }
    const namespaces = keysOf(layer).filter((key) => key.startsWith('namespaces/'));
    assert.deepEqual(
      namespaces.map((key) => key.slice('namespaces/'.length)),
      ['default', 'kube-node-lease', 'kube-public', 'kube-system'],
    );
    assert.equal(keysOf(layer).filter((key) => key.startsWith('serviceaccounts/')).length, 0);
  });

  test('writes the uid and the time of the tenant everywhere, whatever the template was made in', async () => {
    const layer = (await openTenantBase(options)).layer(identity);
    const other = (await openTenantBase(options, { timeMs: Date.UTC(2013, 11, 10), seed: 9 })).layer(identity);
    assert.deepEqual(all(layer), all(other));
    for (const key of keysOf(layer)) {
      const text = textOf(layer, key);
      const { metadata } = JSON.parse(text) as { metadata: { uid: string; creationTimestamp: string } };
      assert.equal(metadata.uid, baseUid(identity.seed, key));
      assert.equal(metadata.creationTimestamp, identity.createdAt);
      assert.deepEqual(new Set(text.match(timePattern)), new Set([identity.createdAt]));
    }
    const tracking = 'configmaps/kube-system/kube-apiserver-legacy-service-account-token-tracking';
    assert.match(textOf(layer, tracking), /"since":"2026-05-04"/);
  });

  test('gives no two objects, and no two tenants, the same uid', async () => {
    const base = await openTenantBase(options);
    const uids = ['a', 'b', 'c'].flatMap((seed) => {
      const layer = base.layer({ ...identity, seed });
      return keysOf(layer).map((key) => (JSON.parse(textOf(layer, key)) as Uid).metadata.uid);
    });
    assert.equal(new Set(uids).size, 3 * base.size);
    for (const uid of uids) assert.match(uid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  test('differs between servers only in what tells where the server is', async () => {
    const here = all((await openTenantBase(options)).layer(identity));
    const there = all(
      (await openTenantBase({ ...options, endpoint: { address: '10.1.2.3', port: 443 } })).layer(identity),
    );
    const different = Object.keys(here).filter((key) => here[key] !== there[key]);
    assert.deepEqual(different, [
      'endpointslices/default/kubernetes',
      'services/endpoints/default/kubernetes',
      'services/specs/default/kubernetes',
    ]);
  });

  test('hands out copies: what one tenant does to its bytes, no other sees', async () => {
    const layer = (await openTenantBase(options)).layer(identity);
    const before = textOf(layer, 'namespaces/default');
    layer.value('namespaces/default')!.fill(0);
    assert.equal(textOf(layer, 'namespaces/default'), before);
    assert.equal(layer.value('namespaces/none'), undefined);
    assert.equal(layer.valueLength('namespaces/none'), 0);
  });

  test('a tenant without a time to the second is refused', async () => {
    const base = await openTenantBase(options);
    for (const createdAt of ['', '2026-05-04', '2026-05-04T03:02:01.000Z', '2026-05-04T03:02:01+00:00']) {
      assert.throws(() => base.layer({ seed: 'a', createdAt }), /seconds precision/);
    }
  });
});

interface Uid {
  readonly metadata: { readonly uid: string };
}

test('a control plane on a view of the base serves it, and bootstrapping it finds nothing to do', async () => {
  const base = (await openTenantBase({ ...options, serviceAddress: '10.0.0.1' })).layer(identity);
  const store = await openMemoryStore();
  const { revision } = await store.commit([{ type: 'put', key: '/made', value: Buffer.from('x') }]);
  const view = layeredStore({ store, prefix: '/registry/clusters/root/', base, baseRevision: revision });
  await using server = await startInProcess({ store: view });
  assert.equal(await store.revision(), revision, 'nothing was written');
  const { body } = await server.request('GET', '/api/v1/namespaces/default');
  const { metadata } = JSON.parse(body.toString()) as {
    metadata: { uid: string; resourceVersion: string; creationTimestamp: string };
  };
  assert.equal(metadata.uid, baseUid(identity.seed, 'namespaces/default'));
  assert.equal(metadata.resourceVersion, String(revision));
  assert.equal(metadata.creationTimestamp, identity.createdAt);
});
