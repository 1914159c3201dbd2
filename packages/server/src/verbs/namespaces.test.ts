import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMap, TestServer } from '../testing/test-server.ts';

const namespaces = '/api/v1/namespaces';
const namespace = (name: string): object => ({ kind: 'Namespace', apiVersion: 'v1', metadata: { name } });

test('a namespace lives from its creation to its finalization', async () => {
  await using server = await TestServer.start();
  const created = await server.create(namespaces, namespace('a'));
  assert.deepEqual(created.spec, { finalizers: ['kubernetes'] });
  assert.deepEqual(created.status, { phase: 'Active' });
  assert.equal(created.metadata.labels['kubernetes.io/metadata.name'], 'a');
  await server.create(`${namespaces}/a/configmaps`, configMap('x'));

  const going = await server.remove(`${namespaces}/a`);
  assert.equal(going.status.phase, 'Terminating');
  assert.ok(going.metadata.deletionTimestamp);
  const refused = await server.expect(403, 'POST', `${namespaces}/a/configmaps`, { body: configMap('y') });
  assert.match(refused.message, /unable to create new content in namespace a because it is being terminated/);
  assert.equal(refused.details.causes[0].reason, 'NamespaceTerminating');
  // Existing objects can still be changed and deleted.
  await server.merge(`${namespaces}/a/configmaps/x`, { data: { x: 'y' } });
  await server.remove(`${namespaces}/a/configmaps/x`);

  const current = await server.get(`${namespaces}/a`);
  await server.expect(200, 'PUT', `${namespaces}/a/finalize`, { body: { ...current, spec: { finalizers: [] } } });
  await server.expect(404, 'GET', `${namespaces}/a`);
});

test('nothing is created where there is no namespace', async () => {
  await using server = await TestServer.start();
  const refused = await server.expect(404, 'POST', `${namespaces}/nowhere/configmaps`, { body: configMap('x') });
  assert.equal(refused.message, 'namespaces "nowhere" not found');
  const applied = { body: configMap('x'), contentType: 'application/apply-patch+yaml' };
  await server.expect(404, 'PATCH', `${namespaces}/nowhere/configmaps/x?fieldManager=me`, applied);
  const created = '/api/v1/configmaps?fieldSelector=metadata.name%3Dx';
  assert.equal((await server.get(created)).items.length, 0);
});

test('the namespaces that every cluster needs stay', async () => {
  await using server = await TestServer.start();
  for (const name of ['default', 'kube-system', 'kube-public']) {
    const refused = await server.expect(403, 'DELETE', `${namespaces}/${name}`);
    assert.match(refused.message, /this namespace may not be deleted/);
  }
  await server.remove(`${namespaces}/kube-node-lease`);
});

test('a namespace is found under its own path only', async () => {
  await using server = await TestServer.start();
  await server.expect(404, 'GET', `${namespaces}/default/namespaces/kube-system`);
  await server.expect(404, 'GET', `${namespaces}/default/namespaces`);
  await server.expect(404, 'GET', `${namespaces}/default/nodes`);
  await server.expect(404, 'GET', `${namespaces}/default/status/extra`);
});
