import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '@hangar/client';
import { ControlPlane, ControlPlaneClass, ControlPlaneRegistration } from '../api/index.ts';
import type { ClassRegistration } from '../api/index.ts';
import { controlPlaneIndexes } from '../control-plane/indexes.ts';
import { startLoneOperator } from '../testing/lone-operator.ts';
import { until } from '../testing/until.ts';
import { automaticController } from './automatic.ts';

const start = () =>
  startLoneOperator(({ manager }) => {
    for (const { kind, name, values } of controlPlaneIndexes) manager.addIndex(kind, name, values);
    manager.controller(automaticController());
  });

const classOf = (client: Client, registration: ClassRegistration) =>
  client.create(ControlPlaneClass, { metadata: { name: 'c' }, spec: { registration } });
const planeOf = (client: Client, name = 'a') =>
  client.create(ControlPlane, { metadata: { name }, spec: { classRef: { name: 'c' } } });
const made = (client: Client, isSo: (one: ControlPlaneRegistration | undefined) => boolean, name = 'a') =>
  until(client, ControlPlaneRegistration, name, isSo);
const setClass = (client: Client, registration: object | null) =>
  client.patch(ControlPlaneClass, { name: 'c' }, { type: 'merge', body: { spec: { registration } } });

test('a control plane gets the registration of its class, owned by it, in whatever order they come', async () => {
  await using operator = await start();
  const { client } = operator;
  const { metadata } = await planeOf(client);
  await classOf(client, { enabled: true, services: ['Controllers', 'scheduler'], mode: 'Dedicated' });
  const { spec, metadata: own } = (await made(client, (one) => one !== undefined))!;
  assert.deepEqual(spec, { controlPlaneRef: { name: 'a' }, services: ['controllers', 'scheduler'], mode: 'Dedicated' });
  assert.equal(own.ownerReferences![0]!.uid, metadata.uid);
  assert.equal(own.ownerReferences![0]!.controller, true);
});

test('it follows the class, is put right, and goes when the class no longer wants it', async () => {
  await using operator = await start();
  const { client } = operator;
  await classOf(client, { enabled: true, services: ['controllers'] });
  await planeOf(client);
  await made(client, (one) => one !== undefined);
  await setClass(client, { services: ['scheduler'] });
  await made(client, (one) => one?.spec.services?.join() === 'scheduler');
  const body = { spec: { services: ['mine'], endpointRef: { name: 'near' } } };
  await client.patch(ControlPlaneRegistration, { name: 'a' }, { type: 'merge', body });
  const { spec } = (await made(client, (one) => one?.spec.services?.join() === 'scheduler'))!;
  assert.deepEqual(spec.endpointRef, { name: 'near' }, 'what the class says nothing about stays');
  await client.delete(ControlPlaneRegistration, { name: 'a' });
  await made(client, (one) => one !== undefined);
  await setClass(client, { enabled: false });
  await made(client, (one) => one === undefined);
});

test('it stays while the class is missing, and goes when the control plane leaves the class', async () => {
  await using operator = await start();
  const { client } = operator;
  await classOf(client, { enabled: true });
  await planeOf(client);
  await made(client, (one) => one !== undefined);
  await operator.restart(async () => void (await client.delete(ControlPlaneClass, { name: 'c' })));
  await planeOf(client, 'b');
  await client.patch(
    ControlPlane,
    { name: 'a' },
    { type: 'merge', body: { metadata: { labels: { touched: 'yes' } } } },
  );
  await classOf(client, { enabled: true, services: ['late'] });
  await made(client, (one) => one !== undefined, 'b');
  await made(client, (one) => one?.spec.services?.join() === 'late');
  const { items } = await client.list(ControlPlaneRegistration);
  assert.equal(
    items.find(({ metadata }) => metadata.name === 'a')?.metadata.generation,
    2,
    'changed once, never made anew',
  );
  await client.patch(ControlPlane, { name: 'a' }, { type: 'merge', body: { spec: { classRef: null } } });
  await made(client, (one) => one === undefined);
});

test("a user's registration of that name is never taken over, changed or deleted", async () => {
  await using operator = await start();
  const { client } = operator;
  const theirs = { metadata: { name: 'a' }, spec: { controlPlaneRef: { name: 'elsewhere' }, services: ['mine'] } };
  const { metadata } = await client.create(ControlPlaneRegistration, theirs);
  await classOf(client, { enabled: true, services: ['controllers'] });
  await planeOf(client);
  await planeOf(client, 'b');
  await made(client, (one) => one !== undefined, 'b');
  await setClass(client, { enabled: false });
  await made(client, (one) => one === undefined, 'b');
  await client.delete(ControlPlane, { name: 'a' });
  await setClass(client, { enabled: true });
  await made(client, (one) => one !== undefined, 'b');
  const { metadata: after } = await client.get(ControlPlaneRegistration, { name: 'a' });
  assert.equal(after.resourceVersion, metadata.resourceVersion);
});

test('it goes with its control plane, also where no garbage collector runs, and while nobody looks', async () => {
  await using operator = await start();
  const { client } = operator;
  await classOf(client, { enabled: true });
  for (const name of ['a', 'b']) {
    await planeOf(client, name);
    await made(client, (one) => one !== undefined, name);
  }
  await client.delete(ControlPlane, { name: 'a' });
  await made(client, (one) => one === undefined);
  await operator.restart(async () => void (await client.delete(ControlPlane, { name: 'b' })));
  await made(client, (one) => one === undefined, 'b');
});

test('one of a control plane that was made anew is made anew', async () => {
  await using operator = await start();
  const { client } = operator;
  await classOf(client, { enabled: true });
  await planeOf(client);
  const { metadata } = (await made(client, (one) => one !== undefined))!;
  await operator.restart(async () => {
    await client.delete(ControlPlane, { name: 'a' });
    await planeOf(client);
  });
  const controlPlane = await client.get(ControlPlane, { name: 'a' });
  const after = (await made(client, (one) => one !== undefined && one.metadata.uid !== metadata.uid))!;
  assert.equal(after.metadata.ownerReferences![0]!.uid, controlPlane.metadata.uid);
});

test('that of a dedicated control plane has no services that the control plane runs itself', async () => {
  await using operator = await start();
  const { client } = operator;
  await classOf(client, { enabled: true, services: ['Controllers', 'scheduler', 'workloads'] });
  const spec = { classRef: { name: 'c' }, mode: 'Dedicated' as const };
  await client.create(ControlPlane, { metadata: { name: 'a' }, spec });
  const { spec: registered } = (await made(client, (one) => one !== undefined))!;
  assert.deepEqual(registered.services, ['workloads']);
  await setClass(client, { services: ['controllers'] });
  await made(client, (one) => one === undefined);
});
