/** Accounts and `kube-root-ca.crt` in the namespaces of the base, if controllers of this process serve tenants. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openMemoryStore, prefixRange } from '@hangar/store';
import type { Store } from '@hangar/store';
import { planePath, tenants, TenancyServer } from '../../testing/tenancy-server.ts';
import type { Data } from '../../testing/test-server.ts';
import { backup, restore } from '../backup/testing.ts';
import { baseUid } from './uid.ts';

const options = {
  serviceAddress: '10.0.0.1',
  serviceCidr: '10.0.0.0/24',
  endpoint: { address: '127.0.0.1', port: 6443 },
};
const accounts = '/api/v1/serviceaccounts';
const maps = '/api/v1/configmaps?fieldSelector=metadata.name=kube-root-ca.crt';
const born = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

interface Setting {
  readonly hasAccounts: boolean;
  readonly ca?: string;
  readonly store?: Store;
}

const open = ({ hasAccounts, ca = 'the CA', store }: Setting): Promise<TenancyServer> =>
  TenancyServer.open({
    ...(store ? { store } : {}),
    tenancy: { bootstrap: () => ({ ...options, hasAccounts }), servingCa: () => ca },
  });

const list = async (server: TenancyServer, path: string, target: string): Promise<Data[]> =>
  (await server.expect(200, 'GET', `${path}${target}`)).items;

const namespaceOf = ({ metadata }: Data): string => metadata.namespace;

async function ownKeys(store: Store, name: string): Promise<string[]> {
  const prefix = `/registry/clusters/${name}/`;
  const { entries } = await store.range(prefixRange(prefix), { keysOnly: true });
  return entries.map(({ key }) => key.slice(prefix.length)).filter((key) => !key.startsWith('.'));
}

describe('a base with accounts', () => {
  test('shows them in every namespace of a new tenant, which stores none of them', async () => {
    await using server = await open({ hasAccounts: true });
    const path = await server.make('demo');
    const shown = await list(server, path, accounts);
    assert.deepEqual(shown.map(namespaceOf), born);
    assert.ok(shown.every(({ metadata }) => metadata.name === 'default'));
    const published = await list(server, path, maps);
    assert.deepEqual(published.map(namespaceOf), born);
    for (const { data, metadata } of published) {
      assert.deepEqual(data, { 'ca.crt': 'the CA' });
      assert.match(metadata.annotations['kubernetes.io/description'], /^Contains a CA bundle/);
    }
    assert.equal(new Set([...shown, ...published].map(({ metadata }) => metadata.uid)).size, 8);
    assert.deepEqual(await ownKeys(server.store, 'demo'), []);
    const { status } = await server.expect(200, 'GET', `${tenants}/demo/usage`);
    assert.equal(status.objects, 0);
  });

  test('is for servers that say so: without, a tenant has what a kube-apiserver alone has', async () => {
    await using server = await open({ hasAccounts: false });
    const path = await server.make('demo');
    assert.deepEqual(await list(server, path, accounts), []);
    assert.deepEqual(await list(server, path, maps), []);
  });

  test('is seen by tenants that were there before, and covered by what they have of their own', async () => {
    const store = await openMemoryStore();
    let own: Data;
    {
      await using server = await open({ hasAccounts: false, store });
      const path = await server.make('demo');
      own = await server.expect(201, 'POST', `${path}/api/v1/namespaces/default/serviceaccounts`, {
        body: { metadata: { name: 'default' } },
      });
    }
    await using server = await open({ hasAccounts: true, store });
    const shown = await list(server, planePath('demo'), accounts);
    assert.deepEqual(shown.map(namespaceOf), born);
    assert.equal(shown[0]!.metadata.uid, own.metadata.uid);
    assert.notEqual(own.metadata.uid, baseUid('', 'serviceaccounts/default/default'));
    assert.equal((await list(server, planePath('demo'), maps)).length, 4);
  });

  test('can be deleted in a tenant and made again, alone', async () => {
    await using server = await open({ hasAccounts: true });
    const [path, other] = [await server.make('demo'), await server.make('other')];
    const target = '/api/v1/namespaces/kube-public/serviceaccounts';
    const before = await server.expect(200, 'GET', `${path}${target}/default`);
    await server.expect(200, 'DELETE', `${path}${target}/default`);
    await server.expect(404, 'GET', `${path}${target}/default`);
    await server.expect(200, 'GET', `${other}${target}/default`);
    const made = await server.expect(201, 'POST', `${path}${target}`, { body: { metadata: { name: 'default' } } });
    assert.notEqual(made.metadata.uid, before.metadata.uid);
  });

  test('is in the view of all tenants, as each of them sees it', async () => {
    await using server = await open({ hasAccounts: true });
    for (const name of ['one', 'two']) await list(server, await server.make(name), accounts);
    for (const [target, perTenant] of [[accounts, 4] as const, [maps, 4] as const]) {
      const items = await list(server, planePath('*'), target);
      for (const name of ['one', 'two']) {
        const own = items.filter(({ metadata }) => metadata.clusterName === name);
        assert.equal(own.length, perTenant, `${target} of ${name}`);
        const uids = (await list(server, planePath(name), target)).map(({ metadata }) => metadata.uid);
        assert.deepEqual(own.map(({ metadata }) => metadata.uid).sort(), uids.sort());
      }
    }
  });

  test('is materialised with everything else, and restored elsewhere with the CA of there', async () => {
    await using server = await open({ hasAccounts: true });
    const path = await server.make('demo');
    const before = [...(await list(server, path, accounts)), ...(await list(server, path, maps))];
    await server.expect(200, 'POST', `${tenants}/demo/materialise`);
    const keys = await ownKeys(server.store, 'demo');
    for (const namespace of born) {
      assert.ok(keys.includes(`serviceaccounts/${namespace}/default`), namespace);
      assert.ok(keys.includes(`configmaps/${namespace}/kube-root-ca.crt`), namespace);
    }
    const after = [...(await list(server, path, accounts)), ...(await list(server, path, maps))];
    const uids = (items: Data[]): string[] => items.map(({ metadata }) => metadata.uid);
    assert.deepEqual(uids(after), uids(before));
    const file = await backup(server, 'demo');
    for (const hasAccounts of [true, false]) {
      await using elsewhere = await open({ hasAccounts, ca: 'another CA' });
      assert.equal((await restore(elsewhere, 'copy/restore', file)).status, 201);
      const restored = await list(elsewhere, planePath('copy'), maps);
      assert.deepEqual(uids(restored), uids(after.slice(4)));
      // Without controllers that would update it, the ConfigMap is restored unchanged.
      const expected = hasAccounts ? 'another CA' : 'the CA';
      assert.ok(restored.every(({ data }) => data['ca.crt'] === expected));
    }
  });
});
