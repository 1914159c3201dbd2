/** Permissions of nodes. authorization.real.ts compares the same requests with kube-apiserver. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestServer } from '../../../testing/test-server.ts';
import type { Data } from '../../../testing/test-server.ts';
import { authorizersOf, superusers } from '../modes.ts';
import { NodeGraph } from './node-graph.ts';
import { nodeObjects, nodeQuestions } from '../testing/node-questions.ts';

const tokens = [
  { token: 'n1', user: 'system:node:n1', groups: ['system:nodes'] },
  { token: 'n2', user: 'system:node:n2', groups: ['system:nodes'] },
  { token: 'spoof', user: 'system:node:n1', groups: ['system:authenticated'] },
];
const secret = (name: string): string => `/api/v1/namespaces/default/secrets/${name}`;

async function start(): Promise<TestServer> {
  const server = await TestServer.start({
    tokens,
    authorizers: (plane) => [superusers, ...authorizersOf(plane, ['Node', 'RBAC'])],
  });
  for (const { path, object } of nodeObjects) await server.create(path, object);
  return server;
}

test('a node reads the secrets that its pods need, as long as they are there, and no others', async () => {
  await using server = await start();
  for (const name of ['volume-secret', 'other', 'mirrored', 'unscheduled']) {
    await server.create('/api/v1/namespaces/default/secrets', { metadata: { name } });
  }
  await server.expect(200, 'GET', secret('volume-secret'), { token: 'n1' });
  for (const [name, token] of [
    ['other', 'n1'],
    ['mirrored', 'n1'],
    ['unscheduled', 'n1'],
    ['volume-secret', 'n2'],
    ['volume-secret', 'spoof'],
  ] as const) {
    await server.expect(403, 'GET', secret(name), { token });
  }
  await server.expect(403, 'GET', '/api/v1/namespaces/default/secrets', { token: 'n1' });
  await server.expect(403, 'PUT', secret('volume-secret'), {
    token: 'n1',
    body: { metadata: { name: 'volume-secret' } },
  });
  const refused = await server.expect(403, 'GET', secret('other'), { token: 'n1' });
  assert.equal(
    refused.message,
    `secrets "other" is forbidden: User "system:node:n1" cannot get resource "secrets" in API group "" in the namespace "default": no relationship found between node 'n1' and this object`,
  );
  await server.expect(200, 'DELETE', '/api/v1/namespaces/default/pods/p1?gracePeriodSeconds=0');
  await server.until(
    'the pod is gone',
    async () => (await server.request('GET', secret('volume-secret'), { token: 'n1' })).status === 403,
  );
});

test('a node lists its own pods only', async () => {
  await using server = await start();
  const list = '/api/v1/pods?fieldSelector=spec.nodeName';
  const { items } = await server.expect(200, 'GET', `${list}%3Dn1`, { token: 'n1' });
  assert.deepEqual(
    items.map((one: Data) => one.metadata.name),
    ['mirror', 'p1'],
  );
  for (const path of [
    '/api/v1/pods',
    `${list}%3Dn2`,
    `${list}!%3Dn2`,
    '/api/v1/watch/pods?fieldSelector=spec.nodeName%3Dn1',
  ]) {
    await server.expect(403, 'GET', path, { token: 'n1' });
  }
});

test('about half of what a node may ask for is its own', async () => {
  await using server = await start();
  const decide = async (spec: object): Promise<boolean> =>
    (await server.create('/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec })).status.allowed;
  const answers = await Promise.all(nodeQuestions.map(decide));
  const count = answers.filter(Boolean).length;
  assert.ok(count > 30 && count < nodeQuestions.length - 30, `${count} of ${nodeQuestions.length}`);
});

test('what was read before the store failed is not counted twice', async () => {
  await using server = await start();
  const { store } = server.plane;
  const { promise: podsAreRead, resolve } = Promise.withResolvers<void>();
  let isFailing = true;
  const failing: typeof store = Object.assign(Object.create(store) as typeof store, {
    get: store.get.bind(store),
    async range(...asked: Parameters<typeof store.range>) {
      if (isFailing && asked[0].start.includes('/persistentvolumes/')) {
        await podsAreRead;
        throw new Error('the store fails');
      }
      return store.range(...asked);
    },
    watch(...asked: Parameters<typeof store.watch>) {
      if (asked[0].prefix.includes('/pods/')) resolve();
      return store.watch(...asked);
    },
  });
  const graph = new NodeGraph(Object.create(server.plane, { store: { value: failing } }) as typeof server.plane);
  await assert.rejects(graph.ready(), /the store fails/);
  isFailing = false;
  await graph.ready();
  assert.ok(graph.isTied('n1', 'secrets', 'default', 'volume-secret'));
  await server.expect(200, 'DELETE', '/api/v1/namespaces/default/pods/p1?gracePeriodSeconds=0');
  await server.until('the pod is gone', () => Promise.resolve(!graph.isTied('n1', 'pods', 'default', 'p1')));
  assert.ok(!graph.isTied('n1', 'secrets', 'default', 'volume-secret'));
  graph.close();
});
