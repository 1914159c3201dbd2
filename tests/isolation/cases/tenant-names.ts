/** Names of tenants, and what looks like one. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { tenant } from '../../../packages/server/src/testing/tenancy-server.ts';
import { isMarked, inDefault, garbage, plain, planePath, tenants } from '../testing/world.ts';
import type { Data, World } from '../testing/world.ts';

export function tenantNameCases(get: () => World): void {
  describe('names of tenants', () => {
    test('are compared as they came: what is escaped, folded or dotted names none', async () => {
      const world = get();
      const unknown = world.unused();
      for (const name of [
        'BOB',
        'Bob',
        'b%6fb',
        'b%6Fb',
        'bob%00',
        'bob%2e',
        'bob.',
        'bob%20',
        ' bob',
        'bob;',
        'bob;x=y',
        'bob%2f',
        'bob%3f',
        'bоb',
        'ｂob',
        'bob\u200b',
        './bob',
        'ada/../bob',
        '..',
        '',
        '.',
        '**',
        'b*b',
        'root',
        'bob\\',
        '@bob',
        'ada@bob',
        'constructor',
        '__proto__',
        'toString',
      ]) {
        for (const shown of [{}, plain, garbage, world.ada.administrator]) {
          const ask = (one: string) => world.ask('GET', `/clusters/${one}/control-plane${inDefault}/secrets`, shown);
          const [received, expected] = [await ask(name), await ask(unknown)];
          const isOtherPath = received.status === 401 || received.status === 403 || received.status === 404;
          assert.ok(isOtherPath, `${name}: ${received.status} ${received.text}`);
          if (!name.includes('/')) assert.equal(received.status, expected.status, name);
          assert.ok(!isMarked(received.text, world.bob.marker));
        }
      }
    });

    test('ways around inside of a target do not leave the tenant', async () => {
      const { ada, bob } = get();
      await get().touchesOnly([], async () => {
        for (const rest of [
          '/../../bob/control-plane',
          '/../bob/control-plane',
          '/%2e%2e/%2e%2e/bob/control-plane',
          '/..%2f..%2fbob%2fcontrol-plane',
          '/..;/..;/bob/control-plane',
          '\\..\\..\\bob\\control-plane',
          '//clusters/bob/control-plane',
          '/clusters/bob/control-plane',
          '/projects/bob/control-plane',
          '/./../bob/control-plane',
          '//../bob/control-plane',
          '%2f..%2f..%2fbob/control-plane',
          '?/../../bob/control-plane',
          '#/../../bob/control-plane',
        ]) {
          for (const method of ['GET', 'DELETE']) {
            const target = `${ada.plane}${rest}${inDefault}/configmaps/shared`;
            const received = await get().ask(method, target, ada.administrator);
            assert.ok(received.status !== 500 && !isMarked(received.text, bob.marker), `${target}: ${received.text}`);
            assert.ok(received.status >= 400 || rest.startsWith('?'), `${method} ${target}: ${received.status}`);
          }
        }
        for (const target of [
          `//clusters/bob/control-plane${inDefault}/configmaps/shared`,
          `/clusters//bob/control-plane${inDefault}/configmaps/shared`,
          `/clusters/bob//control-plane${inDefault}/configmaps/shared`,
          `/clusters/bob/control-plane-x${inDefault}/configmaps/shared`,
          `/CLUSTERS/bob/control-plane${inDefault}/configmaps/shared`,
          `/clusters/bob/Control-Plane${inDefault}/configmaps/shared`,
          `/clusters/bob/control%2dplane${inDefault}/configmaps/shared`,
          `https://127.0.0.1/clusters/bob/control-plane${inDefault}/configmaps/shared`,
          `clusters/bob/control-plane${inDefault}/configmaps/shared`,
          `/x/../clusters/bob/control-plane${inDefault}/configmaps/shared`,
        ]) {
          for (const shown of [ada.administrator, plain, garbage]) {
            const received = await get().ask('GET', target, shown);
            assert.ok([400, 401, 403, 404].includes(received.status), `${target}: ${received.status}`);
            assert.ok(!isMarked(received.text, bob.marker));
          }
        }
      });
    });

    test('that begin alike share nothing: one is destroyed, and the others are as they were', async () => {
      const world = get();
      const names = ['near', 'near-1', 'near-10', 'nearer', 'nea', `${'n'.repeat(62)}1`, 'n'.repeat(62)];
      for (const name of names) {
        const plane = await world.server.make(name, { deletionPolicy: 'Destroy' });
        await world.expect(201, 'POST', `${plane}${inDefault}/configmaps`, { body: { metadata: { name } } });
      }
      const isOther = (destroyed: string) => (key: string) =>
        !key.startsWith(`/registry/clusters/${destroyed}/`) && !key.endsWith(`/tenants/${destroyed}`);
      for (const name of ['near', 'n'.repeat(62)]) {
        const before = await world.stored(isOther(name));
        await world.expect(200, 'DELETE', `${tenants}/${name}`);
        assert.deepEqual(await world.stored(isOther(name)), before);
        assert.deepEqual(await world.entriesOf(`/registry/clusters/${name}/`), []);
      }
      for (const name of names.filter((one) => !['near', 'n'.repeat(62)].includes(one))) {
        const { items } = await world.expect(200, 'GET', `${planePath(name)}${inDefault}/configmaps`);
        assert.deepEqual(
          items.map(({ metadata }: Data) => metadata.name).filter((one: string) => one !== 'kube-root-ca.crt'),
          [name],
        );
        await world.expect(200, 'DELETE', `${tenants}/${name}`);
      }
    });

    test('that are words of the API are tenants like others', async () => {
      const world = get();
      for (const name of ['clusters', 'control-plane', 'projects', 'api', 'apis', 'constructor', 'registry', '0']) {
        const plane = await world.server.make(name, { deletionPolicy: 'Destroy' });
        const body = { metadata: { name: 'control-plane' }, data: { name } };
        await world.expect(201, 'POST', `${plane}${inDefault}/configmaps`, { body });
        for (const way of [plane, `/projects/${name}/control-plane`]) {
          const { data } = await world.expect(200, 'GET', `${way}${inDefault}/configmaps/control-plane`);
          assert.deepEqual(data, { name });
        }
        assert.ok((await world.entriesOf(`/registry/clusters/${name}/configmaps/default/control-plane`)).length === 1);
        await world.expect(200, 'DELETE', `${tenants}/${name}`);
      }
    });

    test('are unique and do not change; no tenant can have the name of the management plane', async () => {
      const world = get();
      await world.expect(409, 'POST', tenants, { body: tenant('bob') });
      const bob = await world.expect(200, 'GET', `${tenants}/bob`);
      const renamed = { ...bob, metadata: { ...bob.metadata, name: 'ada' } };
      await world.expect(400, 'PUT', `${tenants}/bob`, { body: renamed });
      for (const name of ['root', 'a.b', 'A', 'x'.repeat(64), '-a', 'a-', 'а', '*', '..', 'a/b', '.hangar']) {
        const { status } = await world.ask('POST', tenants, { body: tenant(name) });
        assert.equal(status, 422, name);
      }
      for (const generateName of ['root/', '../', 'bob/', '.']) {
        const body = { ...tenant('x'), metadata: { generateName } };
        assert.equal((await world.ask('POST', tenants, { body })).status, 422, generateName);
      }
      await world.bob.get('/api/v1/namespaces');
    });
  });
}
