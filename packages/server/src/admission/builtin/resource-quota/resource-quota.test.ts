import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMap, TestServer, virtualClock } from '../../../testing/test-server.ts';
import type { Data } from '../../../testing/test-server.ts';
import { openControlPlane } from '../../../open-control-plane.ts';
import { systemRandom } from '@hangar/core';
import { container, pod } from '../testing/steps.ts';

const inDefault = (resource: string): string => `/api/v1/namespaces/default/${resource}`;

async function limit(server: TestServer, hard: Record<string, string>, spec: object = {}): Promise<void> {
  await server.create(inDefault('resourcequotas'), { metadata: { name: 'q' }, spec: { hard, ...spec } });
  const used = Object.fromEntries(Object.keys(hard).map((name) => [name, '0']));
  await server.merge(inDefault('resourcequotas/q/status'), { status: { hard, used } });
}

const usedOf = async (server: TestServer): Promise<Data> =>
  (await server.get(inDefault('resourcequotas/q'))).status.used;

test('many that are created at once never exceed the quota, and as many as fit get in', async () => {
  await using server = await TestServer.start();
  await limit(server, { configmaps: '10' });
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, at) =>
      server.request('POST', inDefault('configmaps'), { body: configMap(`c${at}`) }),
    ),
  );
  const codes = answers.map(({ status }) => status);
  assert.equal(codes.filter((code) => code === 201).length, 10);
  assert.equal(codes.filter((code) => code === 403).length, 50);
  assert.deepEqual(await usedOf(server), { configmaps: '10' });
  const refused = answers.find(({ status }) => status === 403)!.data.message as string;
  assert.match(refused, /exceeded quota: q, requested: configmaps=1, used: configmaps=10, limited: configmaps=10$/);
});

test('two servers on one store do not exceed the quota together', async () => {
  await using server = await TestServer.start();
  await limit(server, { configmaps: '15' });
  const { store, clock } = server;
  const other = await openControlPlane({ name: 'root', prefix: '/registry', store, clock, random: systemRandom });
  const resource = other.plane.catalogue.find({ group: '', version: 'v1', resource: 'configmaps' })!;
  const charge = async (): Promise<boolean> => {
    const request = {
      plane: other.plane,
      operation: 'CREATE',
      resource,
      subresource: '',
      namespace: 'default',
      name: 'x',
      object: configMap('x'),
      isDryRun: false,
      attemptOf: {},
    };
    return other.plane.admission
      .validate(request as unknown as Parameters<typeof other.plane.admission.validate>[0])
      .then(
        () => true,
        () => false,
      );
  };
  try {
    const ours = Array.from({ length: 20 }, (_, at) =>
      server
        .request('POST', inDefault('configmaps'), { body: configMap(`c${at}`) })
        .then(({ status }) => status === 201),
    );
    const granted = await Promise.all([...ours, ...Array.from({ length: 20 }, charge)]);
    // Requests that lose every race against the other server get a conflict, so fewer than the limit may succeed, never more.
    const count = granted.filter(Boolean).length;
    assert.ok(count > 0 && count <= 15, String(count));
    assert.deepEqual(await usedOf(server), { configmaps: String(count) });
  } finally {
    other.close();
  }
});

test('a dry run is refused like any other, and charges nothing', async () => {
  await using server = await TestServer.start();
  await limit(server, { configmaps: '1' });
  await server.create(inDefault('configmaps?dryRun=All'), configMap('a'));
  assert.deepEqual(await usedOf(server), { configmaps: '0' });
  await server.create(inDefault('configmaps'), configMap('a'));
  await server.expect(403, 'POST', inDefault('configmaps?dryRun=All'), { body: configMap('b') });
  assert.deepEqual(await usedOf(server), { configmaps: '1' });
});

test('services that must be tried again because their port was taken are charged once', async () => {
  await using server = await TestServer.start();
  await limit(server, { services: '20', 'services.nodeports': '20' });
  const service = (name: string): object => ({ metadata: { name }, spec: { type: 'NodePort', ports: [{ port: 80 }] } });
  await Promise.all(Array.from({ length: 20 }, (_, at) => server.create(inDefault('services'), service(`s${at}`))));
  assert.deepEqual(await usedOf(server), { services: '20', 'services.nodeports': '20' });
});

test('names that every object has are names of resources like others', async () => {
  await using server = await TestServer.start();
  await limit(server, { 'requests.example.com/constructor': '1' });
  const one = { 'example.com/constructor': '1' };
  const body = (name: string): object =>
    pod(name, { containers: [container('c', { resources: { requests: one, limits: one } })] });
  await server.create(inDefault('pods'), body('a'));
  await server.expect(403, 'POST', inDefault('pods'), { body: body('b') });
  assert.deepEqual(await usedOf(server), { 'requests.example.com/constructor': '1' });
});

test('a refusal names what is exceeded, and charges nothing', async () => {
  await using server = await TestServer.start({ clock: virtualClock() });
  await limit(server, { 'requests.cpu': '1', 'count/pods': '5' });
  const sized = (name: string): object =>
    pod(name, { containers: [container('c', { resources: { requests: { cpu: '1' } } })] });
  await server.create(inDefault('pods'), sized('a'));
  const refused = await server.expect(403, 'POST', inDefault('pods'), { body: sized('b') });
  assert.match(
    refused.message,
    /exceeded quota: q, requested: requests.cpu=1, used: requests.cpu=1, limited: requests.cpu=1/,
  );
  assert.deepEqual(await usedOf(server), { 'requests.cpu': '1', 'count/pods': '1' });
});
