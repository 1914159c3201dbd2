/** Host names of tenants: each belongs to one tenant only. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { tenant } from '../../../packages/server/src/testing/tenancy-server.ts';
import { isMarked, inDefault, tenants } from '../testing/world.ts';
import type { Data, World } from '../testing/world.ts';

const mergePatch = 'application/merge-patch+json';

export function hostCases(get: () => World): void {
  const change = (name: string, spec: object) =>
    get().expect(200, 'PATCH', `${tenants}/${name}`, { body: { spec }, contentType: mergePatch });

  describe('host names', () => {
    test('of a tenant cannot be claimed by another, and names and addresses of servers cannot be claimed', async () => {
      const world = get();
      const name = world.unused();
      for (const host of [
        'bob.example.com',
        'localhost',
        '127.0.0.1',
        '10.1.2.3',
        'BOB.example.com',
        'bob.example.com.',
        'bоb.example.com',
        '*.example.com',
        'a b',
        'a/b',
        '[::1]',
        '',
      ]) {
        const { status, text } = await world.ask('POST', tenants, { body: tenant(name, { hosts: [host] }) });
        assert.equal(status, 422, `${host}: ${text}`);
      }
      await world.expect(422, 'PATCH', `${tenants}/ada`, {
        body: { spec: { hosts: ['ada.example.com', 'bob.example.com'] } },
        contentType: mergePatch,
      });
    });

    test('stay with the tenant that had them first, also when two got them at once', async () => {
      const world = get();
      const [first, second] = [await world.tenant(), await world.tenant()];
      // As two servers would write it at the same moment, independently.
      const key = `/registry/clusters/root/tenancy.hangar.dev/tenants/${second.name}`;
      const { entry } = await world.server.store.get(key);
      const object = JSON.parse(Buffer.from(entry!.value).toString()) as Data;
      object.spec.hosts = [first.host];
      await world.server.store.commit([{ type: 'put', key, value: Buffer.from(JSON.stringify(object)) }]);
      const owner = async (): Promise<number> =>
        (
          await world.ask('GET', `${inDefault}/configmaps/shared`, {
            ...first.administrator,
            headers: { host: first.host },
          })
        ).status;
      assert.equal(await owner(), 200);
      await change(first.name, { quota: { objects: 1_000 } });
      assert.equal(await owner(), 200, 'a change of the first gave the name to the second');
      await change(first.name, { quota: null });
      assert.equal(await owner(), 200);
    });

    test('that a tenant gave up and another has lead to the other, for its own users alone', async () => {
      const world = get();
      const [first, second] = [await world.tenant(), await world.tenant()];
      await change(first.name, { hosts: [] });
      await change(second.name, { hosts: [first.host] });
      const headers = { host: first.host };
      const target = `${inDefault}/configmaps/shared`;
      for (const shown of Object.values(first.credentials)) {
        assert.equal((await world.ask('GET', target, { ...shown, headers })).status, 401);
      }
      const { data } = await world.ask('GET', target, { ...second.administrator, headers });
      assert.deepEqual(data.data, { mark: second.marker });
    });

    test('are read as they are: without a port, in any case, and in no other way', async () => {
      const { bob, ada } = get();
      const target = `${inDefault}/configmaps/shared`;
      const status = async (host: string, one = bob): Promise<number> =>
        (await get().ask('GET', target, { ...one.administrator, headers: { host } })).status;
      for (const host of ['bob.example.com', 'BOB.Example.com:6443', 'bob.example.com:1']) {
        assert.deepEqual([await status(host), await status(host, ada)], [200, 401], host);
      }
      for (const host of [
        'bob.example.com.',
        'bob.example.com.:443',
        'x.bob.example.com',
        'bob.example.com.evil.org',
        'bоb.example.com',
        'xn--bb-emc.example.com',
        'bob.example.com, ada.example.com',
        'ada.example.com@bob.example.com',
        'bob.example.com/',
        ' bob.example.com',
        'bob%2eexample.com',
        '[bob.example.com]',
        '',
      ]) {
        assert.deepEqual([await status(host), await status(host, ada)], [401, 401], host);
      }
    });

    test('behind one a tenant is the whole world: no way leads from it to another', async () => {
      const { ada, bob } = get();
      const headers = { host: ada.host };
      for (const way of [
        bob.plane,
        '/projects/bob/control-plane',
        '/apis/resourcemanager.miloapis.com/v1alpha1/projects/bob/control-plane',
        '/clusters/*/control-plane',
      ]) {
        for (const shown of [ada.administrator, {}, bob.administrator]) {
          const { status, text } = await get().ask('GET', `${way}${inDefault}/configmaps/shared`, {
            ...shown,
            headers,
          });
          assert.ok(status === 404 || status === 401, `${status} ${text}`);
          assert.ok(!isMarked(text, bob.marker));
        }
      }
    });

    test('of a connection and of its requests are the same, or the request is refused', async () => {
      const { ada, bob } = get();
      const peer = { ...ada.administrator.peer!, serverName: bob.host };
      for (const [host, status] of [
        [bob.host, 401],
        [ada.host, 421],
        ['localhost', 421],
        ['other.example.com', 421],
      ] as const) {
        const received = await get().ask('GET', `${inDefault}/configmaps/shared`, {
          token: null,
          peer,
          headers: { host },
        });
        assert.equal(received.status, status, host);
      }
      const other = { ...ada.administrator.peer!, serverName: 'localhost' };
      const received = await get().ask('GET', '/api', { token: null, peer: other, headers: { host: ada.host } });
      assert.equal(received.status, 421);
    });
  });
}
