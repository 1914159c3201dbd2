/** Names that look like a part of a path or of a key: they are only names. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { definition, definitions } from '../../../packages/server/src/testing/test-server.ts';
import { isMarked, inDefault, planePath, tenants } from '../testing/world.ts';
import type { Data, Resident, World } from '../testing/world.ts';

/** Valid names that look like a path. */
const suggestive = [
  'clusters',
  'control-plane',
  'root',
  'bob',
  'registry',
  'api',
  'apis',
  'tenants',
  'hidden',
  'hangar',
];

/** Invalid names, or names that a path must not contain. */
const devious = [
  '..',
  '.',
  '%2e%2e',
  '%2e',
  '..%2f..%2fbob%2fconfigmaps%2fdefault%2fshared',
  '%2e%2e%2fbob',
  '%2f',
  '%252f',
  '%252e%252e',
  '..%5c..%5cbob',
  '..;',
  '%00',
  '%0a',
  'bob%2fconfigmaps',
  '.hangar',
  '.hangar%2fkeys',
  '.hidden',
  '.hidden%2fnamespaces%2fdefault',
  '%ef%bc%8e%ef%bc%8e',
  '%e2%80%a5',
  'b%d0%beb',
  '%ef%bd%82ob',
  'x'.repeat(254),
  '*',
  '%2a',
];

/** Asserts that the object is stored in the range of this tenant, under exactly this key. */
async function isAt(one: Resident, relative: string): Promise<void> {
  const { entry } = await one.world.server.store.get(`${one.prefix}${relative}`);
  assert.ok(entry, `nothing at ${relative}`);
}

export function nameCases(get: () => World): void {
  describe('names inside of a tenant', () => {
    test('namespaces called clusters, control-plane or like another tenant are namespaces of this one', async () => {
      const { ada, bob } = get();
      const before = await bob.stored();
      await get().touchesOnly([ada], async () => {
        for (const name of suggestive) {
          await ada.create('/api/v1/namespaces', { metadata: { name } });
          await ada.create(`/api/v1/namespaces/${name}/configmaps`, { metadata: { name: 'control-plane' } });
          await isAt(ada, `configmaps/${name}/control-plane`);
          const { items } = await ada.get(`/api/v1/namespaces/${name}/configmaps`);
          assert.deepEqual(
            items.map(({ metadata }: Data) => metadata.name),
            ['control-plane'],
          );
        }
        // A namespace `bob` in `ada` does not lead to the tenant `bob`.
        await ada.expect(404, 'GET', '/api/v1/namespaces/bob/configmaps/shared');
        for (const name of suggestive) await ada.remove(`/api/v1/namespaces/${name}/configmaps/control-plane`);
      });
      assert.deepEqual(await bob.stored(), before);
    });

    test('a definition with the plural clusters serves its tenant alone', async () => {
      const { ada, bob } = get();
      const own = definition({ plural: 'clusters', kind: 'Cluster', group: 'cluster.x-k8s.io', scope: 'Cluster' });
      await get().touchesOnly([ada], async () => {
        await ada.create(definitions, own);
        const clusters = '/apis/cluster.x-k8s.io/v1/clusters';
        for (const name of ['bob', 'root', 'control-plane']) {
          const kind = { kind: 'Cluster', apiVersion: 'cluster.x-k8s.io/v1' };
          await ada.create(clusters, { ...kind, metadata: { name }, spec: { size: 1 } });
          await isAt(ada, `cluster.x-k8s.io/clusters/${name}`);
        }
        // The same words as the path to a tenant; behind the path to this one they are an unknown subresource.
        await ada.expect(404, 'GET', `${clusters}/bob/control-plane`);
        await ada.expect(404, 'GET', `${clusters}/bob/control-plane/api/v1/namespaces`);
        await ada.expect(200, 'DELETE', clusters);
      });
      await bob.expect(404, 'GET', '/apis/cluster.x-k8s.io/v1/clusters');
      await bob.expect(404, 'GET', `${definitions}/clusters.cluster.x-k8s.io`);
    });

    test('a definition of tenants or projects inside of a tenant makes none', async () => {
      const { ada } = get();
      await get().touchesOnly([ada], async () => {
        for (const [group, plural, kind] of [
          ['tenancy.hangar.dev', 'tenants', 'Tenant'],
          ['resourcemanager.miloapis.com', 'projects', 'Project'],
        ] as const) {
          const versions = (definition({ plural, kind, group }).spec.versions as Data[]).map((one) => ({
            ...one,
            name: 'v1alpha1',
          }));
          await ada.create(definitions, definition({ plural, kind, group, scope: 'Cluster', versions }));
          const path = `/apis/${group}/v1alpha1/${plural}`;
          const metadata = { name: `by-${plural}` };
          await ada.create(path, { kind, apiVersion: `${group}/v1alpha1`, metadata, spec: { size: 1 } });
          for (const name of [`by-${plural}`, 'bob']) {
            await ada.expect(404, 'GET', `${path}/${name}/control-plane/api/v1/namespaces`);
            await ada.expect(404, 'POST', `${path}/${name}/kubeconfig`, { body: {} });
            await ada.expect(404, 'POST', `${path}/${name}/keys`, { body: {} });
            await ada.expect(404, 'POST', `${path}/${name}/backup`, { body: {} });
          }
          await get().expect(404, 'GET', `${planePath(`by-${plural}`)}/api/v1/namespaces`);
          await ada.remove(`${definitions}/${plural}.${group}`);
        }
      });
    });

    test('a definition in the group of tenants cannot take their place at the management plane', async () => {
      const world = get();
      const before = await world.expect(200, 'GET', tenants);
      const made = definition({ plural: 'tenants', kind: 'Tenant', group: 'tenancy.hangar.dev', scope: 'Cluster' });
      const { status, data } = await world.ask('POST', definitions, { body: made });
      if (status === 201) {
        assert.equal((await world.ask('GET', '/apis/tenancy.hangar.dev/v1/tenants', {})).status, 404, data);
        await world.expect(200, 'DELETE', `${definitions}/tenants.tenancy.hangar.dev`);
      }
      const now = await world.expect(200, 'GET', tenants);
      assert.deepEqual(
        now.items.map(({ metadata }: Data) => metadata.uid),
        before.items.map(({ metadata }: Data) => metadata.uid),
      );
      await world.ada.get('/api/v1/namespaces');
    });

    test('definitions with groups or plurals that are no names are refused', async () => {
      const { ada } = get();
      for (const [group, plural] of [
        ['.hangar', 'keys'],
        ['.hidden', 'namespaces'],
        ['..', 'bob'],
        ['a.b/../../bob', 'x'],
        ['example.com', '..'],
        ['example.com', '.hangar'],
        ['example.com', '../../bob'],
        ['example.com', 'a%2fb'],
        ['exаmple.com', 'widgets'],
        [`${'x'.repeat(63)}.${'y'.repeat(200)}.com`, 'widgets'],
      ] as const) {
        const { status, text } = await ada.request('POST', definitions, { body: definition({ group, plural }) });
        assert.ok(status === 422 || status === 400, `${group} ${plural}: ${status} ${text}`);
      }
    });

    test('names of objects that lead elsewhere are refused, in the path and in the body, with every verb', async () => {
      const { ada, bob } = get();
      await get().touchesOnly([ada], async () => {
        for (const name of devious) {
          for (const target of [
            `${inDefault}/configmaps/${name}`,
            `/api/v1/namespaces/${name}/configmaps/shared`,
            `/api/v1/namespaces/${name}`,
            `/apis/${name}/v1/configmaps/shared`,
            `/api/v1/${name}`,
          ]) {
            for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
              const body = { metadata: { name: decodedOr(name) }, data: { x: 'y' } };
              const sent = method === 'GET' || method === 'DELETE' ? {} : { body };
              const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
              const received = await ada.request(method, target, { ...sent, contentType });
              assert.ok(
                [400, 404, 405, 415, 422].includes(received.status),
                `${method} ${target}: ${received.status} ${received.text}`,
              );
              assert.ok(!isMarked(received.text, bob.marker));
            }
          }
          for (const metadata of [{ name: decodedOr(name) }, { generateName: `${decodedOr(name)}/` }]) {
            const { status } = await ada.request('POST', `${inDefault}/configmaps`, { body: { metadata } });
            assert.ok(status === 422 || status === 400, `${name}: ${status}`);
          }
        }
      });
    });

    test('labels, annotations and data are stored, and do not change the path of a request', async () => {
      const { ada, bob } = get();
      const way = `${bob.prefix}configmaps/default/shared`;
      await get().touchesOnly([ada], async () => {
        const annotations = { way, 'tenancy.hangar.dev/tenant': 'bob', 'a/b': '../../bob' };
        const labels = { cluster: 'bob', 'tenancy.hangar.dev/tenant': 'bob', dots: 'a..b' };
        const made = await ada.create(`${inDefault}/configmaps`, {
          metadata: { name: 'labelled', labels, annotations, clusterName: 'bob' },
          data: { way, tenant: 'bob' },
        });
        assert.deepEqual(made.metadata.annotations, annotations);
        const { items } = await ada.get('/api/v1/configmaps?labelSelector=tenancy.hangar.dev/tenant%3Dbob');
        assert.deepEqual(
          items.map(({ metadata }: Data) => metadata.name),
          ['labelled'],
        );
        for (const value of ['../..', 'bob/', '%2f', 'х'.repeat(5), 'x'.repeat(64)]) {
          const body = { metadata: { name: 'refused', labels: { value } } };
          await ada.expect(422, 'POST', `${inDefault}/configmaps`, { body });
        }
        await ada.remove(`${inDefault}/configmaps/labelled`);
      });
    });

    test('names of 253 characters stay in their tenant, and the same ones are another object in another', async () => {
      const { ada, bob } = get();
      const name = `${'x'.repeat(240)}.bob-shared-1`;
      assert.equal(name.length, 253);
      for (const one of [ada, bob])
        await one.create(`${inDefault}/configmaps`, { metadata: { name }, data: { of: one.name } });
      await ada.remove(`${inDefault}/configmaps/${name}`);
      assert.deepEqual((await bob.get(`${inDefault}/configmaps/${name}`)).data, { of: 'bob' });
      await bob.remove(`${inDefault}/configmaps/${name}`);
    });

    test('field selectors with ways in them select nothing', async () => {
      const { ada, bob } = get();
      for (const value of ['../../bob/configmaps/default/shared', '..', '.hangar/keys', '../default', 'bob', '']) {
        for (const field of ['metadata.name', 'metadata.namespace']) {
          for (const path of ['/api/v1/configmaps', `${inDefault}/configmaps`, '/api/v1/namespaces']) {
            const target = `${path}?fieldSelector=${field}%3D${encodeURIComponent(value)}`;
            const { status, text, data } = await ada.request('GET', target);
            assert.ok(!isMarked(text, bob.marker));
            if (status === 200 && value !== '' && value !== 'bob') assert.deepEqual(data.items, [], target);
            else assert.ok([200, 400].includes(status), text);
          }
        }
      }
    });

    test('what the server keeps beside a tenant’s objects is out of reach of every verb', async () => {
      const { ada } = get();
      await ada.request('DELETE', '/api/v1/namespaces/kube-public');
      const own = await get().entriesOf(`${ada.prefix}.hangar/`);
      assert.ok(own.length >= 2, 'there is something to reach');
      const { items } = await ada.get('/api/v1/configmaps');
      for (const { metadata } of items) assert.ok(!metadata.name.startsWith('.'), metadata.name);
      for (const segment of [
        '.hangar',
        '.hidden',
        '.hangar/keys',
        '.hangar/tenant',
        '.hidden/namespaces/kube-public',
      ]) {
        for (const target of [
          `/apis/${segment}/v1/keys`,
          `/apis/${segment}`,
          `/api/v1/${segment}`,
          `/api/v1/namespaces/${segment}`,
          `/api/v1/namespaces/${segment}/configmaps`,
          `${inDefault}/configmaps/..%2f..%2f${encodeURIComponent(segment)}`,
          `/${segment}`,
        ]) {
          const { status, text } = await ada.request('GET', target);
          // A namespace that does not exist has no objects.
          assert.ok([400, 404].includes(status) || /"items":\[\]/.test(text), `${target}: ${status} ${text}`);
          const removed = await ada.request('DELETE', target);
          assert.ok([400, 404, 405].includes(removed.status) || /"items":\[\]/.test(removed.text), target);
        }
      }
      const kept = (all: typeof own) => all.map(({ key }) => key);
      assert.deepEqual(kept(await get().entriesOf(`${ada.prefix}.hangar/`)), kept(own));
    });
  });
}

function decodedOr(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
