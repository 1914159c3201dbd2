import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeProtobuf } from '@hangar/api';
import { everything } from '@hangar/store';
import { startInProcess } from '../testing/in-process.ts';
import type { InProcessServer } from '../testing/in-process.ts';

const services = '/api/v1/namespaces/default/services';

interface Created {
  status: number;
  name: string;
  message: string | undefined;
  address: string;
  nodePort: number;
}

async function create(server: InProcessServer, name: string, spec: object = {}, query = ''): Promise<Created> {
  const body = JSON.stringify({ metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } });
  const answer = await server.request('POST', `${services}${query}`, { body });
  const object = JSON.parse(answer.body.toString());
  return {
    status: answer.status,
    name,
    message: object.message,
    address: object.spec?.clusterIP,
    nodePort: object.spec?.ports?.[0]?.nodePort,
  };
}

async function keys(server: InProcessServer, part: string): Promise<string[]> {
  const { entries } = await server.store.range(everything, { keysOnly: true });
  return entries.flatMap(({ key }) => (key.includes(part) ? [key.slice(key.indexOf(part) + part.length)] : []));
}

test('services that are created at once get addresses and ports of their own', async () => {
  await using server = await startInProcess();
  const names = Array.from({ length: 40 }, (_, at) => `s${at}`);
  const created = await Promise.all(names.map((name) => create(server, name, { type: 'NodePort' })));
  assert.deepEqual(new Set(created.map(({ status }) => status)), new Set([201]));
  assert.equal(new Set(created.map(({ address }) => address)).size, 40);
  assert.equal(new Set(created.map(({ nodePort }) => nodePort)).size, 40);
  assert.deepEqual(
    (await keys(server, '/ipaddresses/')).sort(),
    [...created.map(({ address }) => address), '10.0.0.1'].sort(),
  );
});

test('a service that cannot be created leaves nothing behind', async () => {
  await using server = await startInProcess();
  await create(server, 'a', { clusterIP: '10.0.0.5' });
  const before = await keys(server, '/');
  assert.equal((await create(server, 'a')).status, 409);
  assert.equal((await create(server, 'b', { clusterIP: '10.0.0.5' })).status, 422);
  assert.equal((await create(server, 'c', { ports: [] })).status, 422);
  assert.equal((await create(server, 'd', { type: 'NodePort' }, '?dryRun=All')).status, 201);
  assert.deepEqual(await keys(server, '/'), before);
});

test('of two services that ask for one address at once, one gets it', async () => {
  await using server = await startInProcess();
  const both = await Promise.all(['a', 'b'].map((name) => create(server, name, { clusterIP: '10.0.0.9' })));
  assert.deepEqual(both.map(({ status }) => status).sort(), [201, 422]);
  assert.match(both.find(({ status }) => status === 422)!.message!, /provided IP is already allocated$/);
});

test('all addresses of a range can be had, those of the static band last, and then no more', async () => {
  await using server = await startInProcess();
  const created: Created[] = [];
  for (let at = 0; at < 253; at++) created.push(await create(server, `s${at}`));
  assert.deepEqual(new Set(created.map(({ status }) => status)), new Set([201]));
  const isStatic = ({ address }: Created): boolean => Number(address.split('.')[3]) <= 16;
  assert.equal(created.findIndex(isStatic), 238);
  const { status, message } = await create(server, 'last');
  assert.equal(status, 500);
  assert.match(message!, /failed to allocate a serviceIP for Service "last": range is full$/);
});

test('deleting a service gives back what it had, also for a collection', async () => {
  await using server = await startInProcess();
  await create(server, 'a', { type: 'NodePort', clusterIP: '10.0.0.5', ports: [{ port: 80, nodePort: 30_080 }] });
  await create(server, 'b', { clusterIP: '10.0.0.6' });
  assert.equal((await server.request('DELETE', services)).status, 200);
  assert.deepEqual(await keys(server, '/ipaddresses/'), []);
  const again = await create(server, 'c', {
    type: 'NodePort',
    clusterIP: '10.0.0.5',
    ports: [{ port: 80, nodePort: 30_080 }],
  });
  assert.equal(again.status, 201);
});

test('ports of services that are there count when there is no bitmap', async () => {
  await using server = await startInProcess();
  await create(server, 'a', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_080 }] });
  await server.store.commit([{ type: 'delete', key: `${server.plane.prefix}ranges/servicenodeports` }]);
  const { message } = await create(server, 'b', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_080 }] });
  assert.match(message!, /provided port is already allocated$/);
});

test('a bitmap that kube-apiserver wrote is read', async () => {
  await using server = await startInProcess();
  const value = encodeProtobuf({
    kind: 'RangeAllocation',
    apiVersion: 'v1',
    metadata: {},
    range: '30000-32767',
    data: Buffer.from([0x02]).toString('base64'),
  });
  await server.store.commit([{ type: 'put', key: `${server.plane.prefix}ranges/servicenodeports`, value }]);
  const taken = await create(server, 'a', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_001 }] });
  assert.match(taken.message!, /provided port is already allocated$/);
  const free = await create(server, 'b', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_002 }] });
  assert.equal(free.status, 201);
});

test('addresses come from a second range when there is one, unless it is going away', async () => {
  await using server = await startInProcess();
  const cidrs = '/apis/networking.k8s.io/v1/servicecidrs';
  const second = { metadata: { name: 'second', finalizers: ['a.b/c'] }, spec: { cidrs: ['10.1.0.0/24'] } };
  assert.equal((await server.request('POST', cidrs, { body: JSON.stringify(second) })).status, 201);
  assert.equal((await create(server, 'a', { clusterIP: '10.1.0.5' })).status, 201);
  await server.request('DELETE', `${cidrs}/second`);
  const { message } = await create(server, 'b', { clusterIP: '10.1.0.6' });
  assert.match(message!, /the provided network does not match the current range$/);
});
