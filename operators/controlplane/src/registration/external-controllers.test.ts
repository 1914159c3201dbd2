import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '@hangar/client';
import { systemClock } from '@hangar/core';
import {
  annotations,
  controllersAnnotation,
  ControlPlane,
  ControlPlaneEndpoint,
  ControlPlaneRegistration,
} from '../api/index.ts';
import { controlPlaneIndexes } from '../control-plane/indexes.ts';
import { tenantsOf } from '../control-plane/index.ts';
import { Tenant } from '../host/index.ts';
import type { TenantObject } from '../host/index.ts';
import { startLoneOperator } from '../testing/lone-operator.ts';
import { until } from '../testing/until.ts';
import { externalControllersController } from './external-controllers.ts';
import { addRegistrationIndexes } from './indexes.ts';

const start = () =>
  startLoneOperator(({ manager, client, log }) => {
    for (const { kind, name, values } of controlPlaneIndexes) manager.addIndex(kind, name, values);
    addRegistrationIndexes(manager.cluster.cache);
    const host = { client } as never;
    const tenants = tenantsOf(host, { clock: systemClock, log });
    manager.add({ name: 'tenants', start: (signal) => tenants.start(signal) }, { needsLeadership: false });
    manager.controller(externalControllersController({ host, tenants }));
  });

const pathOf = (controlPlane: string): string => (controlPlane === 'a' ? 'p' : controlPlane);

/** Creates a control plane and its claimed tenant. */
async function claimed(client: Client, own: Record<string, string> = {}, name = 'a', more: object = {}) {
  const path = pathOf(name);
  const spec = { virtual: { clusterPath: path }, ...more };
  const { metadata } = await client.create(ControlPlane, { metadata: { name }, spec });
  const claim = { [annotations.name]: name, [annotations.uid]: metadata.uid!, ...own };
  await client.create(Tenant, { metadata: { name: path, annotations: claim } });
  return metadata;
}

const addressOf = (controlPlane: string): string => `https://shared/clusters/${pathOf(controlPlane)}/control-plane`;

/** As the registration controller resolves it. */
const resolve = (client: Client, name: string, resolvedEndpoint: string | null) =>
  client.status.patch(ControlPlaneRegistration, { name }, { type: 'merge', body: { status: { resolvedEndpoint } } });

async function register(client: Client, name: string, services: string[], controlPlane = 'a') {
  const spec = { controlPlaneRef: { name: controlPlane }, services };
  await client.create(ControlPlaneRegistration, { metadata: { name }, spec });
  await resolve(client, name, addressOf(controlPlane));
}

/** As a controller manager writes it. */
const statusOf = (status: Said, reason = 'X') => {
  const condition = {
    type: 'ControllersReady',
    status,
    reason,
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  return { type: 'merge', body: { status: { conditions: status === undefined ? [] : [condition] } } } as const;
};

type Said = 'True' | 'False' | 'Unknown' | undefined;

const say = (client: Client, name: string, status: Said, reason?: string) =>
  client.status.patch(ControlPlaneRegistration, { name }, statusOf(status, reason));

const sayOfEndpoint = (client: Client, name: string, status: Said, reason?: string) =>
  client.status.patch(ControlPlaneEndpoint, { name }, statusOf(status, reason));

const makeEndpoint = (client: Client, name: string, metadata: object = {}) =>
  client.create(ControlPlaneEndpoint, { metadata: { name, ...metadata }, spec: { endpoint: `https://${name}` } });

const marks = ({ metadata }: TenantObject): [string | undefined, string | undefined] => [
  metadata.annotations?.[controllersAnnotation],
  metadata.annotations?.[annotations.controllersBy],
];
const tenant = (client: Client, value: string | undefined, by: string | undefined, path = 'p') =>
  until(client, Tenant, path, (one) => one !== undefined && marks(one)[0] === value && marks(one)[1] === by);

const none = [undefined, undefined];

/** Resolves when all earlier events were handled: the last object is done. */
async function isIdle(client: Client, name = 'z'): Promise<void> {
  await claimed(client, {}, name);
  await register(client, name, ['controllers'], name);
  await say(client, name, 'True');
  await tenant(client, 'External', name, name);
}

test('a tenant is left to others while a registration for controllers says so, whatever the status', async () => {
  await using operator = await start();
  const { client } = operator;
  await claimed(client);
  await register(client, 'r', ['Controllers']);
  for (const status of ['Unknown', 'False', 'True'] as const) {
    await say(client, 'r', status);
    await tenant(client, 'External', 'r');
  }
  await say(client, 'r', undefined);
  await tenant(client, undefined, undefined);
});

test('a registration for something else, or of another control plane, does not count', async () => {
  await using operator = await start();
  const { client } = operator;
  await claimed(client);
  await register(client, 'r', ['scheduler']);
  await say(client, 'r', 'True');
  await register(client, 's', ['controllers'], 'b');
  await say(client, 's', 'True');
  await register(client, 't', ['controllers']);
  await say(client, 't', 'True');
  await tenant(client, 'External', 't');
  await client.patch(ControlPlaneRegistration, { name: 't' }, { type: 'merge', body: { spec: { services: ['x'] } } });
  await tenant(client, undefined, undefined);
});

test('another registration takes over when the first one goes, also while nobody looks', async () => {
  await using operator = await start();
  const { client } = operator;
  await claimed(client);
  for (const name of ['r', 's']) await register(client, name, ['controllers']);
  await say(client, 's', 'True');
  await tenant(client, 'External', 's');
  await say(client, 'r', 'True');
  await operator.restart(async () => void (await client.delete(ControlPlaneRegistration, { name: 's' })));
  await tenant(client, 'External', 'r');
  await operator.restart(async () => void (await client.delete(ControlPlaneRegistration, { name: 'r' })));
  await tenant(client, undefined, undefined);
});

test('what was set by hand stays', async () => {
  await using operator = await start();
  const { client } = operator;
  await claimed(client, { [controllersAnnotation]: 'External' });
  await register(client, 'r', ['controllers']);
  await say(client, 'r', 'True');
  await say(client, 'r', undefined);
  await claimed(client, {}, 'b');
  await register(client, 's', ['controllers'], 'b');
  await say(client, 's', 'True');
  await until(client, Tenant, 'b', (one) => one !== undefined && marks(one)[1] === 's');
  assert.deepEqual(marks(await client.get(Tenant, { name: 'p' })), ['External', undefined]);
});

test("what somebody takes off the tenant is put back, and another's tenant is never touched", async () => {
  await using operator = await start();
  const { client } = operator;
  await claimed(client);
  await register(client, 'r', ['controllers']);
  await say(client, 'r', 'True');
  await tenant(client, 'External', 'r');
  const off = { metadata: { annotations: { [controllersAnnotation]: null } } };
  await client.patch(Tenant, { name: 'p' }, { type: 'merge', body: off });
  await tenant(client, 'External', 'r');
  const other = { metadata: { annotations: { [annotations.uid]: 'another' } } };
  await client.patch(Tenant, { name: 'p' }, { type: 'merge', body: other });
  operator.forget();
  await client.patch(Tenant, { name: 'p' }, { type: 'merge', body: off });
  await client.delete(ControlPlaneRegistration, { name: 'r' });
  // When this one is done, the previous one was reconciled.
  await claimed(client, {}, 'b');
  await register(client, 's', ['controllers'], 'b');
  await say(client, 's', 'True');
  await until(client, Tenant, 'b', (one) => one !== undefined && marks(one)[1] === 's');
  assert.deepEqual(
    operator.writes.filter((one) => !one.includes('/tenants/b')),
    [],
  );
});

test('the endpoint that a control plane names counts as a registration does, and comes after those', async () => {
  await using operator = await start();
  const { client } = operator;
  await claimed(client, {}, 'a', { endpointRef: { name: 'e' } });
  await makeEndpoint(client, 'e');
  for (const status of ['False', 'True'] as const) {
    await sayOfEndpoint(client, 'e', status);
    await tenant(client, 'External', 'endpoint/e');
  }
  await register(client, 'r', ['controllers']);
  await say(client, 'r', 'True');
  await operator.restart(async () => void (await sayOfEndpoint(client, 'e', undefined)));
  await tenant(client, 'External', 'r');
  await sayOfEndpoint(client, 'e', 'True');
  await client.delete(ControlPlaneRegistration, { name: 'r' });
  await tenant(client, 'External', 'endpoint/e');
  await client.delete(ControlPlaneEndpoint, { name: 'e' });
  await tenant(client, undefined, undefined);
});

test('the endpoint that was allocated for a control plane counts for nobody else', async () => {
  await using operator = await start();
  const { client } = operator;
  const { uid, name } = await claimed(client);
  const { apiVersion, kind } = ControlPlane;
  const ownerReferences = [{ apiVersion, kind, name, uid, controller: true }];
  await makeEndpoint(client, 'a', { ownerReferences });
  await claimed(client, {}, 'b', { endpointRef: { name: 'a' } });
  await claimed(client, {}, 'c', { endpointRef: { name: 'mine' } });
  await makeEndpoint(client, 'mine');
  await makeEndpoint(client, 'd');
  await claimed(client, {}, 'd');
  for (const one of ['a', 'd', 'mine']) await sayOfEndpoint(client, one, 'True');
  await tenant(client, 'External', 'endpoint/a');
  await tenant(client, 'External', 'endpoint/mine', 'c');
  for (const path of ['b', 'd']) {
    assert.deepEqual(marks(await client.get(Tenant, { name: path })), [undefined, undefined], path);
  }
});

test('an endpoint that several control planes name counts for none of them', async () => {
  await using operator = await start();
  const { client } = operator;
  await makeEndpoint(client, 'e');
  for (const name of ['a', 'b']) await claimed(client, {}, name, { endpointRef: { name: 'e' } });
  await sayOfEndpoint(client, 'e', 'True');
  await isIdle(client);
  for (const path of ['p', 'b']) assert.deepEqual(marks(await client.get(Tenant, { name: path })), none, path);
  await client.patch(ControlPlane, { name: 'a' }, { type: 'merge', body: { spec: { endpointRef: { name: 'f' } } } });
  await tenant(client, 'External', 'endpoint/e', 'b');
  assert.deepEqual(marks(await client.get(Tenant, { name: 'p' })), none);
});

test('nobody takes an endpoint from who has it by naming it, too; it is to be had when that one leaves', async () => {
  await using operator = await start();
  const { client } = operator;
  await makeEndpoint(client, 'e');
  await sayOfEndpoint(client, 'e', 'True');
  await claimed(client, {}, 'a', { endpointRef: { name: 'e' } });
  await tenant(client, 'External', 'endpoint/e');
  operator.forget();
  await claimed(client, {}, 'b', { endpointRef: { name: 'e' } });
  await isIdle(client);
  await operator.restart();
  await sayOfEndpoint(client, 'e', 'False');
  await isIdle(client, 'y');
  assert.deepEqual(marks(await client.get(Tenant, { name: 'p' })), ['External', 'endpoint/e']);
  assert.deepEqual(marks(await client.get(Tenant, { name: 'b' })), none);
  assert.deepEqual(
    operator.writes.filter((one) => /tenants\/[pb]\b/.test(one)),
    [],
  );
  await client.patch(ControlPlane, { name: 'a' }, { type: 'merge', body: { spec: { endpointRef: { name: 'f' } } } });
  await tenant(client, undefined, undefined);
  await tenant(client, 'External', 'endpoint/e', 'b');
  await client.delete(ControlPlane, { name: 'b' });
  await client.patch(ControlPlane, { name: 'a' }, { type: 'merge', body: { spec: { endpointRef: { name: 'e' } } } });
  await tenant(client, 'External', 'endpoint/e');
});

test('a registration that leads to another cluster leaves the tenant to the platform', async () => {
  await using operator = await start();
  const { client } = operator;
  await claimed(client);
  await register(client, 'r', ['controllers']);
  await say(client, 'r', 'True');
  await tenant(client, 'External', 'r');
  for (const foreign of ['https://kube-apiserver.example:6443', 'https://shared/clusters/other/control-plane']) {
    await resolve(client, 'r', foreign);
    await tenant(client, undefined, undefined);
    // By any address.
    await resolve(client, 'r', 'https://line.example:7443/clusters/p/control-plane/');
    await tenant(client, 'External', 'r');
  }
  await resolve(client, 'r', 'https://a.example');
  await tenant(client, undefined, undefined);
  const endpoints = [{ type: 'External', url: 'https://a.example/' }];
  await client.status.patch(ControlPlane, { name: 'a' }, { type: 'merge', body: { status: { endpoints } } });
  await tenant(client, 'External', 'r');
});

test('one that leads nowhere for a while keeps what it has, and gets nothing new', async () => {
  await using operator = await start();
  const { client } = operator;
  await claimed(client);
  await register(client, 'r', ['controllers']);
  await say(client, 'r', 'True');
  await tenant(client, 'External', 'r');
  await resolve(client, 'r', null);
  await claimed(client, {}, 'b');
  await register(client, 's', ['controllers'], 'b');
  await resolve(client, 's', null);
  await say(client, 's', 'False');
  await isIdle(client);
  assert.deepEqual(marks(await client.get(Tenant, { name: 'p' })), ['External', 'r']);
  assert.deepEqual(marks(await client.get(Tenant, { name: 'b' })), none);
  await resolve(client, 's', addressOf('b'));
  await tenant(client, 'External', 's', 'b');
});

test('a registration that names another control plane has that one when it leads there', async () => {
  await using operator = await start();
  const { client } = operator;
  await claimed(client);
  await claimed(client, {}, 'b');
  await register(client, 'r', ['controllers']);
  await say(client, 'r', 'True');
  await tenant(client, 'External', 'r');
  const body = { spec: { controlPlaneRef: { name: 'b' } } };
  await client.patch(ControlPlaneRegistration, { name: 'r' }, { type: 'merge', body });
  await tenant(client, undefined, undefined);
  await isIdle(client);
  assert.deepEqual(marks(await client.get(Tenant, { name: 'b' })), none);
  await resolve(client, 'r', addressOf('b'));
  await tenant(client, 'External', 'r', 'b');
});

test('who says that it cannot serve a control plane does not have it', async () => {
  await using operator = await start();
  const { client } = operator;
  await claimed(client);
  await register(client, 'r', ['controllers']);
  await say(client, 'r', 'False', 'Starting');
  await tenant(client, 'External', 'r');
  await say(client, 'r', 'False', 'EngineNotSupported');
  await tenant(client, undefined, undefined);
  await makeEndpoint(client, 'e');
  await claimed(client, {}, 'b', { endpointRef: { name: 'e' } });
  await sayOfEndpoint(client, 'e', 'False', 'Starting');
  await tenant(client, 'External', 'endpoint/e', 'b');
  await sayOfEndpoint(client, 'e', 'False', 'EngineNotSupported');
  await tenant(client, undefined, undefined, 'b');
});

test('an endpoint that is for other services does not count', async () => {
  await using operator = await start();
  const { client } = operator;
  await claimed(client, {}, 'a', { endpointRef: { name: 'e' } });
  await makeEndpoint(client, 'e', { annotations: { [annotations.services]: 'scheduler, Controllers' } });
  await sayOfEndpoint(client, 'e', 'True');
  await tenant(client, 'External', 'endpoint/e');
  const body = { metadata: { annotations: { [annotations.services]: 'scheduler' } } };
  await client.patch(ControlPlaneEndpoint, { name: 'e' }, { type: 'merge', body });
  await tenant(client, undefined, undefined);
});
