/** Several instances: a second server on the same store, a copy from a backup, the view of all tenants, the records of all tenants. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemClock } from '@hangar/core';
import { Auditor } from '../../../packages/server/src/audit/auditor.ts';
import { AuditPolicy } from '../../../packages/server/src/audit/policy.ts';
import { backup, restore } from '../../../packages/server/src/tenancy/backup/testing.ts';
import { TenancyServer } from '../../../packages/server/src/testing/tenancy-server.ts';
import { inDefault, garbage, isMarked, plain, tenants } from '../testing/world.ts';
import type { Data, World } from '../testing/world.ts';

const selfReviews = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const everyone = '/clusters/*/control-plane';

export function copyCases(get: () => World): void {
  describe('two servers on one store', () => {
    test('a tenant that one of them destroys and makes again is never another one’s at the other', async () => {
      const world = get();
      await using second = await TenancyServer.open({
        store: world.server.store,
        tenancy: { strangersPaceMs: 0 },
      });
      for (let round = 0; round < 5; round++) {
        const old = await world.tenant({ deletionPolicy: 'Destroy' });
        const target = `${old.plane}${inDefault}/configmaps/secret`;
        const ask = () => second.answer('GET', target, old.administrator);
        // Known there as soon as its watch has delivered it.
        for (let wait = 0; (await ask()).status !== 404; wait++) {
          assert.ok(wait < 500, 'it has not heard of it');
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        let isDone = false;
        const seen = new Set<number>();
        const asking = (async () => {
          while (!isDone) {
            const { status } = await ask();
            seen.add(status);
            assert.notEqual(status, 200, 'it read what is of the new tenant');
            await new Promise(setImmediate);
          }
        })();
        await world.expect(200, 'DELETE', `${tenants}/${old.name}`);
        await world.server.make(old.name, { deletionPolicy: 'Destroy' });
        await world.expect(201, 'POST', `${old.plane}${inDefault}/configmaps`, {
          body: { metadata: { name: 'secret' }, data: { of: 'the new one' } },
        });
        for (let wait = 0; wait < 20; wait++) await new Promise((resolve) => setTimeout(resolve, 2));
        isDone = true;
        await asking;
        for (const status of seen) assert.ok([401, 404, 503].includes(status), String([...seen]));
        await world.expect(200, 'DELETE', `${tenants}/${old.name}`);
      }
      for (const error of second.problems) assert.match(String(error), /Fenced|not found|closed/i);
    });
  });

  describe('a copy of a tenant under another path', () => {
    test('knows no certificate and no account of the one that it was made of, keys or not', async () => {
      const world = get();
      const original = await world.tenant();
      for (const query of ['', '?includeKeys=true']) {
        const file = await backup(world.server, original.name, query);
        const copy = world.unused();
        const { status, data } = await restore(world.server, `${copy}/restore`, file);
        assert.equal(status, 201, JSON.stringify(data));
        const plane = `/clusters/${copy}/control-plane`;
        for (const shown of [original.administrator, original.user, original.robot, original.legacy]) {
          const received = await world.ask('POST', plane + selfReviews, { body: {}, ...shown });
          assert.equal(received.status, 401, received.text);
        }
        // Changes of the copy affect the copy only.
        await world.expect(200, 'DELETE', `${plane}${inDefault}/configmaps/shared`);
        await original.get(`${inDefault}/configmaps/shared`);
        const headers = { host: original.host };
        const { data: own } = await world.ask('GET', `${inDefault}/configmaps/shared`, {
          ...original.administrator,
          headers,
        });
        assert.equal(own.data.mark, original.marker, 'the copy has taken its host');
      }
    });
  });

  describe('the view of all tenants', () => {
    test('shows no keys of the server’s own, and writes nothing', async () => {
      const world = get();
      await world.touchesOnly([], async () => {
        for (const target of ['/api/v1/configmaps', '/api/v1/namespaces', '/api/v1/secrets']) {
          const { text } = await world.ask('GET', everyone + target, {});
          assert.ok(isMarked(text, world.ada.marker) && isMarked(text, world.bob.marker), target);
          assert.ok(!text.includes('"seed"') && !text.includes('.hangar') && !text.includes('PRIVATE KEY'), target);
        }
        for (const [method, target] of [
          ['POST', `${inDefault}/configmaps`],
          ['PUT', `${inDefault}/configmaps/shared`],
          ['DELETE', `${inDefault}/configmaps/shared`],
          ['DELETE', '/api/v1/configmaps'],
          ['PATCH', `${inDefault}/configmaps/shared`],
          ['GET', `${inDefault}/configmaps/shared`],
          ['POST', `${inDefault}/serviceaccounts/robot/token`],
        ] as const) {
          const sent = method === 'POST' || method === 'PUT' || method === 'PATCH' ? { body: { metadata: {} } } : {};
          const { status } = await world.ask(method, everyone + target, sent);
          assert.ok(status === 404 || status === 405, `${method} ${target}: ${status}`);
        }
      });
    });

    test('is refused to users who are not masters, also when a master impersonates them, and by a tenant’s host', async () => {
      const world = get();
      const target = `${everyone}/api/v1/secrets`;
      const asked = [
        { headers: { 'impersonate-user': 'jane' } },
        { headers: { host: world.ada.host } },
        plain,
        garbage,
        world.ada.administrator,
        world.ada.robot,
        { ...world.ada.administrator, headers: { host: world.ada.host } },
      ];
      for (const shown of asked) {
        const { status, text } = await world.ask('GET', target, shown);
        assert.ok([401, 403, 404].includes(status), text);
        assert.ok(!isMarked(text, world.bob.marker) && !isMarked(text, world.ada.marker));
      }
    });
  });

  test('records of requests say whose they are, with the path that was asked for, and each its own only', async () => {
    const world = get();
    const lines: string[] = [];
    const sink = { write: (text: string) => void lines.push(text), close: () => Promise.resolve() };
    const policy = AuditPolicy.read('apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: RequestResponse}]');
    const auditor = new Auditor({ policy, sinks: [sink], clock: systemClock });
    await using audited = await TenancyServer.open({
      store: world.server.store,
      auditor,
      tenancy: { strangersPaceMs: 0 },
    });
    for (const one of [world.ada, world.bob]) {
      const { administrator, plane } = one;
      assert.equal((await audited.request('GET', `${plane}${inDefault}/configmaps/shared`, administrator)).status, 200);
    }
    await audited.request('GET', `${world.bob.plane}${inDefault}/configmaps`, world.ada.robot);
    const events = lines.flatMap((line) => line.trim().split('\n')).map((line) => JSON.parse(line) as Data);
    const annotation = 'tenancy.hangar.dev/tenant';
    for (const one of [world.ada, world.bob]) {
      const other = one === world.ada ? world.bob : world.ada;
      const own = events.filter(({ annotations }) => annotations?.[annotation] === one.name);
      assert.ok(own.some(({ requestURI }) => requestURI === `${one.plane}${inDefault}/configmaps/shared`));
      for (const event of own) assert.ok(!JSON.stringify(event).includes(other.marker));
    }
    const refused = events.filter(({ responseStatus }) => responseStatus?.code === 401);
    assert.ok(refused.length > 0);
    for (const { user } of refused) assert.equal(user?.username, undefined, 'nobody is taken for anybody');
  });
}
