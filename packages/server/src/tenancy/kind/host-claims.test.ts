import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openMemoryStore, prefixRange } from '@hangar/store';
import type { CommitResult, Store, Write } from '@hangar/store';
import { ForwardingStore } from '../../objects/forwarding-store.ts';
import { tenant, tenants, TenancyServer } from '../../testing/tenancy-server.ts';
import type { Received } from '../../testing/test-server.ts';
import { backup, restore } from '../backup/testing.ts';
import { hostClaimKey } from '../layout.ts';

const merge = 'application/merge-patch+json';
const host = 'api.example.com';

/** Returns the path of the tenant by host name. */
async function claims(store: Store): Promise<Record<string, string>> {
  const { entries } = await store.range(prefixRange(hostClaimKey('/registry', '')));
  const place = hostClaimKey('/registry', '').length;
  return Object.fromEntries(entries.map(({ key, value }) => [key.slice(place), Buffer.from(value).toString()]));
}

const make = (server: TenancyServer, name: string, hosts: readonly unknown[], query = ''): Promise<Received> =>
  server.request('POST', `${tenants}${query}`, { body: tenant(name, { hosts }) });

const change = (server: TenancyServer, name: string, hosts: readonly string[] | null, query = ''): Promise<Received> =>
  server.request('PATCH', `${tenants}/${name}${query}`, { body: { spec: { hosts } }, contentType: merge });

const statuses = (all: readonly Received[]): number[] => all.map(({ status }) => status).sort();

function assertTaken({ status, data }: Received, at = 0): void {
  assert.equal(status, 422, JSON.stringify(data));
  assert.match(data.message, /is already used by another tenant/);
  assert.equal(data.details.causes[0].field, `spec.hosts[${at}]`);
}

describe('a host name', () => {
  test('that several tenants want at the same time is given to one', async () => {
    await using server = await TenancyServer.open();
    const names = ['a', 'b', 'c', 'd'];
    const made = await Promise.all(names.map((name) => make(server, name, ['own.' + name, host])));
    assert.deepEqual(statuses(made), [201, 422, 422, 422]);
    for (const one of made) if (one.status !== 201) assertTaken(one, 1);
    const winner = names[made.findIndex(({ status }) => status === 201)]!;
    assert.equal(server.tenancy.tenants.findByHost(host)?.path, winner);
    assert.deepEqual(await claims(server.store), { [host]: winner, [`own.${winner}`]: winner });
  });

  test('that several change to at the same time is given to one, and what it had is free', async () => {
    await using server = await TenancyServer.open();
    for (const name of ['a', 'b']) await server.make(name, { hosts: [`${name}.example.com`] });
    const changed = await Promise.all(['a', 'b'].map((name) => change(server, name, [host])));
    assert.deepEqual(statuses(changed), [200, 422]);
    const [winner, loser] = changed[0]!.status === 200 ? ['a', 'b'] : ['b', 'a'];
    assert.deepEqual(await claims(server.store), { [host]: winner, [`${loser}.example.com`]: loser });
    await server.make('c', { hosts: [`${winner}.example.com`] });
  });

  test('that two servers on one store give at the same time is given once', async () => {
    const store = await openMemoryStore();
    {
      await using one = await TenancyServer.open({ store });
      await using two = await TenancyServer.open({ store });
      const made = await Promise.all([make(one, 'a', [host]), make(two, 'b', [host])]);
      assert.deepEqual(statuses(made), [201, 422]);
    }
    await store.close();
  });

  test('is free again when the tenant gives it up, or ends, with or without its data', async () => {
    await using server = await TenancyServer.open();
    await server.make('a', { hosts: [host, 'a.example.com'] });
    assert.equal((await change(server, 'a', ['a.example.com'])).status, 200);
    await server.make('b', { hosts: [host] });
    assertTaken(await change(server, 'a', ['a.example.com', host]), 1);
    await server.expect(200, 'DELETE', `${tenants}/a`);
    assert.deepEqual(await claims(server.store), { [host]: 'b' });
    await server.make('c', { hosts: ['a.example.com'], deletionPolicy: 'Destroy' });
    // Retained data is adopted without the names that other tenants claimed.
    assertTaken(await make(server, 'a', ['a.example.com']));
    await server.expect(200, 'DELETE', `${tenants}/c`);
    assert.equal((await make(server, 'a', ['a.example.com'])).status, 201);
    assert.equal((await change(server, 'b', null)).status, 200);
    assert.deepEqual(await claims(server.store), { 'a.example.com': 'a' });
  });

  test('stays with a tenant that is only marked as deleted', async () => {
    await using server = await TenancyServer.open();
    await server.make('a', { hosts: [host] });
    const patch = (finalizers: readonly string[] | null) =>
      server.expect(200, 'PATCH', `${tenants}/a`, { body: { metadata: { finalizers } }, contentType: merge });
    await patch(['example.com/x']);
    await server.expect(200, 'DELETE', `${tenants}/a`);
    assertTaken(await make(server, 'b', [host]));
    await patch(null);
    assert.deepEqual(await claims(server.store), {});
    await server.make('b', { hosts: [host] });
  });

  test('is not claimed by a try, nor by what is refused', async () => {
    await using server = await TenancyServer.open();
    assert.equal((await make(server, 'a', [host], '?dryRun=All')).status, 201);
    for (const wrong of [
      [host, 'No.Capitals'],
      [host, 7],
      [host, 'localhost'],
      [host, '127.0.0.1'],
      [host, host],
    ]) {
      assert.equal((await make(server, 'a', wrong)).status, 422, JSON.stringify(wrong));
    }
    const tooMany = Array.from({ length: 65 }, (_, at) => `h${at}.example.com`);
    assert.equal((await make(server, 'a', tooMany)).status, 422);
    assert.equal((await make(server, 'Not.A.Path', [host])).status, 422);
    await server.make('b', { hosts: ['b.example.com'] });
    assert.equal((await change(server, 'b', [host], '?dryRun=All')).status, 200);
    assert.deepEqual(await claims(server.store), { 'b.example.com': 'b' });
    await server.make('c', { hosts: [host] });
    assertTaken(await change(server, 'b', [host], '?dryRun=All'));
  });

  test('of many is changed with the others, up to what one transaction takes', async () => {
    await using server = await TenancyServer.open();
    const hosts = (word: string, length: number) => Array.from({ length }, (_, at) => `${word}${at}.example.com`);
    await server.make('a', { hosts: hosts('a', 64) });
    const { status, data } = await change(server, 'a', hosts('b', 64));
    assert.equal(status, 422);
    assert.match(data.message, /spec.hosts: .*more than 100 changes at once/);
    assert.equal((await change(server, 'a', hosts('b', 36))).status, 200);
    assert.equal(Object.keys(await claims(server.store)).length, 36);
    await server.expect(200, 'DELETE', `${tenants}/a`);
    assert.deepEqual(await claims(server.store), {});
  });

  test('that somebody claimed by hand for no tenant keeps nobody from it', async () => {
    await using server = await TenancyServer.open();
    await server.make('b');
    for (const [name, holder] of [
      ['x.example.com', 'nobody'],
      ['y.example.com', 'b'],
      ['z.example.com', 'a'],
    ]) {
      await server.store.commit([{ type: 'put', key: hostClaimKey('/registry', name!), value: Buffer.from(holder!) }]);
    }
    await server.make('a', { hosts: ['x.example.com', 'y.example.com', 'z.example.com'] });
    assert.deepEqual(await claims(server.store), { 'x.example.com': 'a', 'y.example.com': 'a', 'z.example.com': 'a' });
  });
});

describe('a restored tenant', () => {
  const target = `copy/restore?spec=${encodeURIComponent(JSON.stringify({ hosts: [host] }))}`;

  test('has the names that it is told, unless another one has them', async () => {
    await using server = await TenancyServer.open();
    await server.make('demo', { hosts: [host] });
    const file = await backup(server, 'demo');
    const refused = await restore(server, target, file);
    assert.equal(refused.status, 422);
    assert.match(refused.data.message, /is already used by another tenant/);
    await server.expect(200, 'DELETE', `${tenants}/demo`);
    assert.equal((await restore(server, target, file)).status, 201);
    assert.deepEqual(await claims(server.store), { [host]: 'copy' });
  });

  test('is none when another one took its name while it was on its way', async () => {
    const store = new Interposed(await openMemoryStore());
    {
      await using server = await TenancyServer.open({ store });
      await server.make('demo');
      const file = await backup(server, 'demo');
      store.before = async (writes) => {
        if (!writes.some((write) => write.type === 'put' && write.key === hostClaimKey('/registry', host))) return;
        store.before = undefined;
        await server.make('faster', { hosts: [host] });
      };
      const { status, data } = await restore(server, target, file);
      assert.equal(status, 422, JSON.stringify(data));
      await server.expect(404, 'GET', `${tenants}/copy`);
      assert.deepEqual(await claims(server.store), { [host]: 'faster' });
      assert.equal((await store.range(prefixRange('/registry/clusters/copy/'))).entries.length, 0);
    }
    await store.close();
  });
});

class Interposed extends ForwardingStore {
  before: ((writes: readonly Write[]) => Promise<void>) | undefined;

  override async commit(writes: readonly Write[]): Promise<CommitResult> {
    await this.before?.(writes);
    return this.store.commit(writes);
  }
}
