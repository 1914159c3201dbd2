import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prefixRange } from '@hangar/store';
import { TestServer } from '../testing/test-server.ts';
import { ensureKubeApiServerStart } from './kube-apiserver-start.ts';

const ports = 'ranges/servicenodeports';
const required = [
  '/apis/scheduling.k8s.io/v1/priorityclasses/system-cluster-critical',
  '/apis/networking.k8s.io/v1/servicecidrs/kubernetes',
  '/apis/rbac.authorization.k8s.io/v1/clusterroles/system:discovery',
  '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/system:basic-user',
  '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/probes',
];

async function baseOf({ store, plane: { prefix } }: TestServer) {
  const { entries } = await store.range(prefixRange(prefix));
  const values = new Map(entries.map(({ key, value }) => [key.slice(prefix.length), value]));
  return { value: (key: string) => values.get(key) };
}

const stored = async ({ store, plane }: TestServer): Promise<string> =>
  Buffer.from((await store.get(`${plane.prefix}${ports}`)).entry!.value).toString();

test('objects that a kube-apiserver needs at its start are created again, once', async () => {
  await using server = await TestServer.start();
  const base = await baseOf(server);
  for (const path of required) await server.expect(200, 'DELETE', path);
  await ensureKubeApiServerStart(server.plane, base);
  for (const path of required) await server.get(path);
  const revision = await server.store.revision();
  await ensureKubeApiServerStart(server.plane, base);
  assert.equal(await server.store.revision(), revision);
});

test('node ports are stored in the bytes of kube-apiserver', async () => {
  await using server = await TestServer.start();
  const base = await baseOf(server);
  await ensureKubeApiServerStart(server.plane, base);
  const empty = '{"kind":"RangeAllocation","apiVersion":"v1","metadata":{},"range":"30000-32767","data":""}\n';
  assert.equal(await stored(server), empty);
  const spec = { type: 'NodePort', ports: [{ port: 80, nodePort: 30_001 }] };
  await server.create('/api/v1/namespaces/default/services', { metadata: { name: 'web' }, spec });
  const taken = empty.replace('"data":""', '"data":"Ag=="');
  assert.equal(await stored(server), taken);
  // As an earlier version stored it.
  const value = Buffer.from(taken.trimEnd());
  await server.store.commit([{ type: 'put', key: `${server.plane.prefix}${ports}`, value }]);
  await ensureKubeApiServerStart(server.plane, base);
  assert.equal(await stored(server), taken);
});
