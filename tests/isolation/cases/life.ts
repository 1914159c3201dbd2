/** Tenants that are created, deleted, suspended and recreated: nothing of a deleted one is in its successor. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { prefixRange } from '@hangar/store';
import { planePath as planeOf, tenant } from '../../../packages/server/src/testing/tenancy-server.ts';
import { definition, definitions, widget, widgets } from '../../../packages/server/src/testing/test-server.ts';
import { isMarked, inDefault, garbage, nothing, plain, rbac, tenants } from '../testing/world.ts';
import type { Data, Resident, Shown, World } from '../testing/world.ts';

const mergePatch = 'application/merge-patch+json';
const selfReviews = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

export function lifeCases(get: () => World): void {
  const change = (name: string, spec: object) =>
    get().expect(200, 'PATCH', `${tenants}/${name}`, { body: { spec }, contentType: mergePatch });
  const end = ({ name }: Pick<Resident, 'name'>) => get().expect(200, 'DELETE', `${tenants}/${name}`);
  const doomed = () => get().tenant({ deletionPolicy: 'Destroy' });

  describe('a tenant that was destroyed, and one that took its place', () => {
    test('no credential of the old one is good in the new one, at once, on connections that used it before', async () => {
      const world = get();
      const old = await doomed();
      const isKnown = async (): Promise<number[]> => {
        const answers = Object.values(old.credentials).map((shown) =>
          world.ask('POST', `${old.plane}${selfReviews}`, { body: {}, ...shown }),
        );
        return (await Promise.all(answers)).map(({ status }) => status);
      };
      assert.deepEqual(new Set(await isKnown()), new Set([201]));
      await end(old);
      assert.deepEqual(new Set(await isKnown()), new Set([401]));
      await world.server.make(old.name, { hosts: [old.host] });
      assert.deepEqual(new Set(await isKnown()), new Set([401]));
      // The same accounts and secrets again, with other uids.
      await world.expect(201, 'POST', `${old.plane}${inDefault}/serviceaccounts`, {
        body: { metadata: { name: 'robot' } },
      });
      assert.deepEqual(new Set(await isKnown()), new Set([401]));
    });

    test('nothing that was cached of the old one is seen: lists, definitions, roles, documents, policies', async () => {
      const world = get();
      const old = await doomed();
      await old.create(definitions, definition({ spec: { size: { type: 'integer', description: old.marker } } }));
      await old.create(widgets, widget('w', { size: 1 }, { annotations: { mark: old.marker } }));
      await old.remove(`${rbac}/clusterroles/view`);
      await old.merge('/api/v1/namespaces/kube-system', { metadata: { labels: { mark: old.marker } } });
      const paths = [
        '/api/v1/configmaps',
        '/api/v1/namespaces',
        '/api/v1/secrets',
        '/api/v1/serviceaccounts',
        definitions,
        `${rbac}/clusterrolebindings`,
        '/openapi/v2',
        '/openapi/v3',
        '/apis',
        '/metrics',
      ];
      for (const path of paths) await old.get(path).catch(() => old.request('GET', path));
      await end(old);
      await world.server.make(old.name);
      for (const path of paths) {
        const { status, text } = await world.ask('GET', old.plane + path, {});
        assert.equal(status, 200, path);
        assert.ok(!isMarked(text, old.marker), path);
      }
      assert.equal((await world.ask('GET', old.plane + widgets, {})).status, 404);
      await world.expect(200, 'GET', `${old.plane}${rbac}/clusterroles/view`);
    });

    test('a watch of the old one ends, and tells nothing of the new one', async () => {
      const world = get();
      const old = await doomed();
      const watches = await Promise.all(
        ['/api/v1/configmaps', '/api/v1/secrets', `${rbac}/clusterroles`].map((path) =>
          world.server.watch(`${old.plane}${path}?watch=true`, old.administrator),
        ),
      );
      const ended = end(old);
      await ended;
      await world.server.make(old.name);
      const body = { metadata: { name: 'of-the-new-one' } };
      await world.expect(201, 'POST', `${old.plane}${inDefault}/configmaps`, { body });
      for (const watch of watches) {
        await watch.ended();
        assert.ok(!Buffer.concat(watch.sink.chunks).toString().includes('of-the-new-one'));
      }
    });

    test('clients that still hold the old one write nothing into the new one, and read nothing of it', async () => {
      const world = get();
      const old = await doomed();
      await old.get('/api/v1/namespaces');
      const stale = (await world.server.tenancy.open.peek(old.name))!.plane.store;
      const watch = stale.watch({ prefix: old.prefix });
      // As on a server that has not seen the deletion yet: the view stays open.
      await world.server.store.commit([
        {
          type: 'deleteRange',
          range: { start: old.prefix, end: `${old.prefix.slice(0, -1)}0` },
        },
      ]);
      await world.server.store.commit([
        {
          type: 'put',
          key: `${old.prefix}.hangar/tenant`,
          value: Buffer.from('{"seed":"x","createdAt":"2026-05-04T03:02:01Z"}'),
        },
      ]);
      const key = `${old.prefix}configmaps/default/new`;
      await world.server.store.commit([{ type: 'put', key, value: Buffer.from('{"secret":"of the new one"}') }]);
      const seen: string[] = [];
      const watching = (async () => {
        for await (const { events } of watch) {
          for (const event of events) seen.push(event.type === 'put' ? event.entry.key : event.key);
        }
      })().catch(() => {});
      const read = async (): Promise<string> => {
        const { entry } = await stale.get(key);
        const { entries } = await stale.range(prefixRange(old.prefix));
        return [entry, ...entries].map((one) => (one ? Buffer.from(one.value).toString() : '')).join();
      };
      const text = await read().catch(() => '');
      assert.ok(!text.includes('of the new one'), 'it reads what is not its own');
      const write = { type: 'put', key: `${old.prefix}configmaps/default/late`, value: Buffer.from('{}') } as const;
      await assert.rejects(stale.commit([write]));
      await watching;
      assert.ok(!seen.includes(key), seen.join());
      await end(old);
    });

    test('what was asked while it ended is answered, and changes nothing afterwards', async () => {
      const world = get();
      const old = await doomed();
      const writing = Array.from({ length: 30 }, (_, at) =>
        old.request('POST', `${inDefault}/configmaps`, { body: { metadata: { name: `late-${at}` } } }),
      );
      const listing = Array.from({ length: 10 }, () => old.request('GET', '/api/v1/configmaps'));
      await end(old);
      for (const { status, text } of await Promise.all([...writing, ...listing])) {
        assert.ok([200, 201, 401, 404, 410, 503].includes(status), `${status} ${text}`);
      }
      assert.deepEqual(await world.entriesOf(old.prefix), []);
      await world.server.make(old.name);
      const { items } = await world.expect(200, 'GET', `${old.plane}${inDefault}/configmaps`);
      assert.ok(!items.some(({ metadata }: Data) => metadata.name.startsWith('late-')));
    });
  });

  describe('the end of a tenant', () => {
    test('is one transaction on its own range, however many others there are', async () => {
      const world = get();
      const old = await doomed();
      for (let at = 0; at < 20; at++) await old.create(`${inDefault}/configmaps`, { metadata: { name: `c-${at}` } });
      // Its object, its keys and its host name are deleted; nothing else is.
      const isOther = (key: string) =>
        !key.startsWith(old.prefix) && !key.endsWith(`/tenants/${old.name}`) && !key.endsWith(`/${old.host}`);
      const before = await world.stored(isOther);
      const revision = await world.server.store.revision();
      await end(old);
      assert.equal(Number(await world.server.store.revision()) - Number(revision), 1);
      assert.deepEqual(await world.entriesOf(old.prefix), []);
      assert.deepEqual(await world.stored(isOther), before);
    });

    test('that is only tried out, or meant for another version or uid, ends nothing', async () => {
      const world = get();
      const safe = await doomed();
      const before = await safe.stored();
      await world.expect(200, 'DELETE', `${tenants}/${safe.name}?dryRun=All`);
      await world.expect(200, 'DELETE', `${tenants}/${safe.name}`, { body: { dryRun: ['All'] } });
      await world.expect(409, 'DELETE', `${tenants}/${safe.name}`, { body: { preconditions: { uid: 'other' } } });
      await world.expect(409, 'DELETE', `${tenants}/${safe.name}`, {
        body: { preconditions: { resourceVersion: '1' } },
      });
      await world.expect(200, 'DELETE', `${tenants}?dryRun=All`);
      await world.expect(200, 'DELETE', `${tenants}?labelSelector=none%3Dhas-this`);
      assert.deepEqual(await safe.stored(), before);
      await safe.get(`${inDefault}/configmaps/shared`);
      await end(safe);
    });

    test('waits for finalizers with everything that it holds, and then leaves nothing', async () => {
      const world = get();
      const kept = await doomed();
      await world.expect(200, 'PATCH', `${tenants}/${kept.name}`, {
        body: { metadata: { finalizers: ['example.com/wait'] } },
        contentType: mergePatch,
      });
      await end(kept);
      await kept.get(`${inDefault}/configmaps/shared`);
      await world.expect(200, 'PATCH', `${tenants}/${kept.name}`, {
        body: { metadata: { finalizers: null } },
        contentType: mergePatch,
      });
      assert.deepEqual(await world.entriesOf(kept.prefix), []);
      assert.equal((await kept.request('GET', '/api')).status, 401);
    });

    test('that retains is out of reach for all users, and no credentials are valid until it is adopted', async () => {
      const world = get();
      const kept = await world.tenant();
      await end(kept);
      assert.ok((await kept.stored()).size > 5, 'it was retained');
      for (const shown of Object.values(kept.credentials)) {
        assert.equal((await world.ask('GET', `${kept.plane}/api/v1/configmaps`, shown)).status, 401);
      }
      for (const operation of ['kubeconfig', 'keys', 'backup', 'materialise']) {
        await world.expect(404, 'POST', `${tenants}/${kept.name}/${operation}`, { body: {} });
      }
      await world.expect(404, 'GET', `${kept.plane}/api/v1/configmaps`);
      await world.server.make(kept.name);
      await kept.get(`${inDefault}/configmaps/shared`);
    });

    test('retained data of one tenant is neither seen nor purged by another tenant or a user without rights', async () => {
      const world = get();
      const [kept, other] = [await world.tenant(), await world.tenant()];
      await end(kept);
      const before = await kept.stored();
      const retained = '/apis/tenancy.hangar.dev/v1alpha1/retainedtenants';
      const paths = [retained, `${retained}/${kept.name}`, `${retained}?watch=true`, `${retained}/none`];
      for (const method of ['GET', 'DELETE', 'PATCH', 'PUT', 'POST']) {
        for (const path of paths) {
          const sent = method === 'GET' ? {} : { body: { metadata: { name: kept.name } } };
          const tries: [what: string, shown: Shown, target: string][] = [
            ...Object.entries(other.credentials).flatMap(([what, shown]): [string, Shown, string][] => [
              [`${what} in its own control plane`, shown, other.plane + path],
              [`${what} in the management plane`, shown, path],
              [`${what} in the deleted control plane`, shown, kept.plane + path],
            ]),
            ['a user of the management plane without rights', plain, path],
          ];
          for (const [what, shown, target] of tries) {
            const { status, text } = await world.server.request(method, target, { ...sent, ...shown });
            assert.ok([401, 403, 404, 405].includes(status), `${method} ${target} by ${what}: ${status} ${text}`);
            assert.ok(
              !text.includes(kept.marker) && !text.includes('storedBytes'),
              `${method} ${target} by ${what}: ${text}`,
            );
          }
          const { status } = await world.server.request(method, path, { ...sent, ...plain });
          assert.equal(status, 403, `${method} ${path}`);
          const inOwn = await other.request(method, path, sent);
          assert.ok(inOwn.status === 404 || inOwn.status === 405, `${method} ${path}: ${inOwn.status}`);
        }
      }
      assert.deepEqual(await kept.stored(), before);
      await world.expect(200, 'DELETE', `${retained}/${kept.name}`);
      assert.equal((await kept.stored()).size, 0, 'the administrator of the platform purges it');
    });
  });

  describe('a tenant that rests', () => {
    test('costs nothing: idle tenants have no request, watch or timer', async () => {
      const world = get();
      const idle = await Promise.all(Array.from({ length: 5 }, () => world.tenant()));
      for (const { name } of idle) world.server.tenancy.open.drop(name);
      const { store } = world.server;
      const calls: string[] = [];
      const names = ['get', 'range', 'commit', 'watch', 'revision', 'statistics', 'grantLease', 'renewLease'] as const;
      const counted = names.map((name) => [name, store[name]] as const);
      for (const [name, original] of counted) {
        (store as unknown as Record<string, unknown>)[name] = (...all: unknown[]) => {
          calls.push(`${name} ${JSON.stringify(all[0])}`);
          return (original as (...some: unknown[]) => unknown).apply(store, all);
        };
      }
      await new Promise((resolve) => setTimeout(resolve, 300));
      for (const [name] of counted) delete (store as unknown as Record<string, unknown>)[name];
      const ofIdle = calls.filter((call) => idle.some(({ prefix }) => call.includes(prefix)));
      assert.deepEqual(ofIdle, []);
      for (const one of idle) await one.get(`${inDefault}/configmaps/shared`);
    });

    test('suspended completely it reports that to its own users, and answers all others as if it did not exist', async () => {
      const world = get();
      const resting = await world.tenant();
      const watch = await world.server.watch(`${resting.plane}/api/v1/configmaps?watch=true`, resting.administrator);
      await change(resting.name, { suspension: 'Offline' });
      await watch.ended();
      assert.equal((await resting.request('GET', '/api/v1/configmaps')).status, 503);
      for (const shown of [world.bob.administrator, world.bob.robot, garbage, nothing]) {
        const { status, text } = await world.ask('GET', `${resting.plane}/api/v1/configmaps`, shown);
        assert.equal(status, 401, text);
        assert.ok(!text.includes('suspend'));
      }
      assert.equal((await world.ask('GET', `${resting.plane}/api/v1/configmaps`, plain)).status, 404);
      await change(resting.name, { suspension: null });
      await resting.get(`${inDefault}/configmaps/shared`);
    });

    test('suspended to reads it accepts no write, by any verb or subresource', async () => {
      const world = get();
      const resting = await world.tenant();
      await change(resting.name, { suspension: 'ReadOnly' });
      const before = await resting.stored();
      for (const shown of [resting.administrator, resting.robot, {}]) {
        for (const [method, target, body] of [
          ['POST', `${inDefault}/configmaps`, { metadata: { name: 'x' } }],
          ['PUT', `${inDefault}/configmaps/shared`, { metadata: { name: 'shared' } }],
          ['PATCH', `${inDefault}/configmaps/shared`, {}],
          ['DELETE', `${inDefault}/configmaps/shared`, undefined],
          ['DELETE', `${inDefault}/configmaps`, undefined],
          ['POST', `${inDefault}/serviceaccounts/robot/token`, { spec: {} }],
          ['PUT', '/api/v1/namespaces/default/finalize', {}],
          ['POST', `${inDefault}/pods/x/binding`, {}],
          ['POST', `${inDefault}/pods/x/eviction`, {}],
        ] as const) {
          const sent =
            body === undefined ? {} : { body, contentType: method === 'PATCH' ? mergePatch : 'application/json' };
          const { status } = await world.ask(method, resting.plane + target, { ...sent, ...shown });
          assert.equal(status, 403, `${method} ${target}`);
        }
      }
      assert.deepEqual(await resting.stored(), before);
      await resting.create(selfReviews, {});
    });
  });

  describe('a tenant that was just made', () => {
    test('is ready at once, as itself', async () => {
      const world = get();
      const name = world.unused();
      const plane = await world.server.make(name);
      for (const path of ['/readyz', '/livez', '/healthz']) await world.expect(200, 'GET', plane + path);
      await change('bob', { suspension: 'Offline' });
      await world.expect(200, 'GET', `${plane}/readyz`);
      await world.expect(503, 'GET', `${world.bob.plane}/readyz`);
      await change('bob', { suspension: null });
      await world.expect(200, 'GET', `${world.bob.plane}/readyz`);
    });

    test('is created by administrators only: requests of others create none, and write nothing', async () => {
      const world = get();
      await world.touchesOnly([], async () => {
        for (const shown of [nothing, garbage, plain, world.ada.administrator, world.ada.robot, {}]) {
          for (const name of [world.unused(), 'x'.repeat(63), 'root']) {
            for (const [method, target] of [
              ['GET', '/api/v1/namespaces'],
              ['POST', `${inDefault}/configmaps`],
              ['GET', '/readyz'],
              ['DELETE', '/api/v1/namespaces'],
            ] as const) {
              const sent = method === 'POST' ? { body: { metadata: { name: 'x' } } } : {};
              const { status } = await world.ask(method, planeOf(name) + target, { ...sent, ...shown });
              assert.ok(status === 401 || status === 404, `${status}`);
            }
          }
        }
        for (const shown of [nothing, garbage, plain, world.ada.administrator, world.ada.robot]) {
          const { status } = await world.ask('POST', tenants, { body: tenant(world.unused()), ...shown });
          assert.ok(status === 401 || status === 403, `${status}`);
        }
      });
    });
  });
}
