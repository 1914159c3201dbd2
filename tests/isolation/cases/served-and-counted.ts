/** Served resources and metrics of two tenants under the same names. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openStream, ReadingSink } from '../../../packages/server/src/tenancy/feed/http/testing.ts';
import { definition, definitions, version, widget, widgets } from '../../../packages/server/src/testing/test-server.ts';
import { garbage, isMarked, inDefault, nothing, plain, tenants, until } from '../testing/world.ts';
import type { Data, World } from '../testing/world.ts';

/** By the feed of all tenants, as the platform's administrator. */
async function toldAtFirst({ server }: World): Promise<string> {
  let text = '';
  const sink = new ReadingSink((chunk) => (text += chunk.toString()));
  await openStream(server, sink);
  await until('all was told', async () => text.includes('{"type":"synced"}'));
  sink.end();
  return text;
}

export function servedCases(get: () => World): void {
  describe('what is served', () => {
    test('definitions of one name with two schemas: each tenant has its own checks, defaults, columns and documents', async () => {
      const strict = await get().tenant();
      const loose = await get().tenant();
      const schemas = {
        strict: {
          size: { type: 'integer', maximum: 5, default: 3 },
          mark: { type: 'string', description: strict.marker },
        },
        loose: { size: { type: 'integer', default: 7 }, extra: { type: 'string', description: loose.marker } },
      };
      const columns = (name: string) => [{ name, type: 'integer', jsonPath: '.spec.size' }];
      const kind = { shortNames: ['wg'] };
      const of = (spec: object, name: string) =>
        definition({ versions: [version('v1', spec, { additionalPrinterColumns: columns(name) })], names: kind });
      await strict.create(definitions, of(schemas.strict, `Strict${strict.marker}`));
      await loose.create(definitions, of(schemas.loose, `Loose${loose.marker}`));
      assert.equal((await strict.create(widgets, widget('w', {}))).spec.size, 3);
      assert.equal((await loose.create(widgets, widget('w', {}))).spec.size, 7);
      await strict.expect(422, 'POST', widgets, { body: widget('big', { size: 9 }) });
      await loose.create(widgets, widget('big', { size: 9, extra: 'kept' }));
      const pruned = await strict.create(widgets, widget('small', { size: 1, extra: 'pruned' }));
      assert.equal(pruned.spec.extra, undefined);
      assert.equal((await loose.get(`${widgets}/big`)).spec.extra, 'kept');
      const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
      for (const [one, other] of [
        [strict, loose],
        [loose, strict],
      ] as const) {
        const table = await one.request('GET', widgets, { accept });
        assert.ok(table.text.includes(one.marker) && !isMarked(table.text, other.marker));
        for (const path of ['/openapi/v2', '/openapi/v3/apis/example.com/v1', `${definitions}/widgets.example.com`]) {
          const { text } = await one.request('GET', path);
          assert.ok(text.includes(one.marker), path);
          assert.ok(!isMarked(text, other.marker), path);
        }
      }
    });

    test('definitions that are the same are each tenant’s own: changed in one, the other’s is as it was', async () => {
      const [one, other] = [await get().tenant(), await get().tenant()];
      for (const each of [one, other]) {
        await each.create(definitions, {
          ...definition(),
          metadata: { name: 'widgets.example.com', annotations: { mark: each.marker } },
        });
        await each.create(widgets, widget('w', { size: 1 }));
      }
      const shown = await other.request('GET', `${definitions}/widgets.example.com`);
      assert.ok(!isMarked(shown.text, one.marker));
      const spec = (await one.get(`${definitions}/widgets.example.com`)).spec as Data;
      spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.size.maximum = 1;
      spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.size.description = one.marker;
      await one.merge(`${definitions}/widgets.example.com`, { spec });
      await one.expect(422, 'POST', widgets, { body: widget('big', { size: 2 }) });
      await other.create(widgets, widget('big', { size: 2 }));
      const { text } = await other.request('GET', '/openapi/v3/apis/example.com/v1');
      assert.ok(!isMarked(text, one.marker));
      await one.remove(`${definitions}/widgets.example.com`);
      await until('it is gone', async () => (await one.request('GET', widgets)).status === 404);
      assert.equal((await other.get(widgets)).items.length, 2);
    });

    test('what a definition serves in one tenant is not there in another, nor at the management plane', async () => {
      const own = await get().tenant();
      await own.create(definitions, definition({ group: 'secret-project.example.com' }));
      await own.create('/apis/secret-project.example.com/v1/namespaces/default/widgets', {
        ...widget('w'),
        apiVersion: 'secret-project.example.com/v1',
      });
      for (const [plane, shown] of [
        [get().bob.plane, get().bob.administrator],
        ['', {}],
      ] as const) {
        for (const path of ['/apis', '/openapi/v2', '/openapi/v3', '/', '/metrics', definitions]) {
          const { status, text } = await get().ask('GET', plane + path, shown);
          assert.equal(status, 200, path);
          assert.ok(!text.includes('secret-project'), `${plane}${path}`);
        }
        const path = '/apis/secret-project.example.com/v1/namespaces/default/widgets';
        assert.equal((await get().ask('GET', plane + path, shown)).status, 404);
      }
    });

    test('tenants are served at the management plane alone', async () => {
      const { ada } = get();
      for (const path of ['/apis', '/', '/openapi/v2', '/openapi/v3', '/apis/apiregistration.k8s.io/v1/apiservices']) {
        const { text } = await ada.request('GET', path);
        assert.ok(!text.includes('tenancy.hangar.dev'), path);
      }
      for (const [method, path] of [
        ['GET', ''],
        ['POST', ''],
        ['GET', '/bob'],
        ['DELETE', '/bob'],
        ['POST', '/bob/kubeconfig'],
        ['POST', '/bob/keys'],
        ['POST', '/bob/backup'],
        ['POST', '/bob/restore'],
        ['POST', '/bob/materialise'],
        ['GET', '/bob/usage'],
        ['GET', '/*/usage'],
        ['GET', '/*/feed'],
        ['GET', '/%2a/feed'],
        ['POST', '/*/feed'],
        ['GET', '/bob/status'],
      ]) {
        const sent = method === 'POST' ? { body: {} } : {};
        await ada.expect(404, method!, `/apis/tenancy.hangar.dev/v1alpha1/tenants${path}`, sent);
      }
    });
  });

  describe('what is told', () => {
    test('the feed of all tenants requires its right, and contains no secrets', async () => {
      const { ada, bob } = get();
      const own = await get().tenant();
      await own.create(`${inDefault}/secrets`, { metadata: { name: 's' }, stringData: { password: 'not-to-be-told' } });
      for (const star of ['*', '%2a', '%2A', ada.name, '**']) {
        for (const method of ['GET', 'POST']) {
          const target = `${tenants}/${star}/feed`;
          for (const shown of [...Object.values(ada.credentials), garbage, nothing]) {
            const received = await get().ask(method, target, { body: {}, ...shown });
            assert.equal(received.status, 401, `${method} ${target}`);
          }
          const received = await get().ask(method, target, { body: {}, ...plain });
          assert.equal(received.status, 403, `${method} ${target}`);
          assert.ok(!isMarked(received.text, bob.marker));
        }
      }
      const text = await toldAtFirst(get());
      assert.ok(isMarked(text, bob.marker), 'who has the right is told of everybody');
      assert.ok(text.includes(`{"type":"tenant","cluster":"${own.name}"}`));
      const secret = Buffer.from('not-to-be-told').toString('base64');
      assert.ok(!text.includes(secret) && !text.includes('not-to-be-told'));
      assert.ok(!text.includes('"cluster":"root"'));
    });
  });

  describe('what is counted', () => {
    test('addresses of services are each tenant’s own', async () => {
      const [one, other] = [await get().tenant(), await get().tenant()];
      const service = {
        metadata: { name: 's' },
        spec: { clusterIP: '10.0.0.77', ports: [{ port: 80, nodePort: 30777 }], type: 'NodePort' },
      };
      for (const each of [one, other]) await each.create(`${inDefault}/services`, service);
      const again = { ...service, metadata: { name: 'again' } };
      await one.expect(422, 'POST', `${inDefault}/services`, { body: again });
      await one.remove(`${inDefault}/services/s`);
      assert.equal((await other.get(`${inDefault}/services/s`)).spec.clusterIP, '10.0.0.77');
      await other.expect(422, 'POST', `${inDefault}/services`, { body: again });
    });

    test('a quota of one tenant counts nothing of another', async () => {
      const small = await get().tenant();
      const { bob } = get();
      const count = (await small.get('/api/v1/configmaps')).items.length as number;
      const quota = { objectsPerKind: { configmaps: count + 1 } };
      const path = `/apis/tenancy.hangar.dev/v1alpha1/tenants/${small.name}`;
      await get().expect(200, 'PATCH', path, {
        body: { spec: { quota } },
        contentType: 'application/merge-patch+json',
      });
      for (let at = 0; at < 5; at++)
        await bob.create(`${inDefault}/configmaps`, { metadata: { name: `counted-${at}` } });
      const answers: number[] = [];
      for (let at = 0; at < 5; at++) {
        const body = { metadata: { name: `counted-${at}` } };
        const { status, text } = await small.request('POST', `${inDefault}/configmaps`, { body });
        answers.push(status);
        assert.ok(!isMarked(text, bob.marker));
      }
      assert.equal(answers[0], 201, String(answers));
      assert.ok(answers.includes(403), String(answers));
      for (let at = 0; at < 5; at++) await bob.remove(`${inDefault}/configmaps/counted-${at}`);
    });

    test('events and leases of one tenant, under the same names, are not another’s', async () => {
      const { ada, bob } = get();
      const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
      for (const one of [ada, bob]) {
        await one.create(lease, { metadata: { name: 'leader' }, spec: { holderIdentity: one.marker } });
        await one.create(`${inDefault}/events`, {
          metadata: { name: 'event' },
          involvedObject: { kind: 'ConfigMap', name: 'shared', namespace: 'default' },
          message: one.marker,
        });
      }
      await ada.merge(`${lease}/leader`, { spec: { holderIdentity: 'me' } });
      assert.equal((await bob.get(`${lease}/leader`)).spec.holderIdentity, bob.marker);
      const { items } = await ada.get('/api/v1/events');
      assert.deepEqual(
        items.map(({ message }: Data) => message),
        [ada.marker],
      );
      for (const one of [ada, bob]) await one.expect(200, 'DELETE', `${inDefault}/events`);
    });
  });
}
