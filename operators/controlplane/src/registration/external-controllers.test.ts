import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '@hangar/client';
import { systemClock } from '@hangar/core';
import { annotations, controllersAnnotation, ControlPlane, ControlPlaneRegistration } from '../api/index.ts';
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

/** A control plane and the tenant that it has claimed. */
async function claimed(client: Client, own: Record<string, string> = {}, name = 'a', path = name === 'a' ? 'p' : name) {
  const spec = { virtual: { clusterPath: path } };
  const { metadata } = await client.create(ControlPlane, { metadata: { name }, spec });
  const claim = { [annotations.name]: name, [annotations.uid]: metadata.uid!, ...own };
  await client.create(Tenant, { metadata: { name: path, annotations: claim } });
}

const register = (client: Client, name: string, services: string[], controlPlane = 'a') =>
  client.create(ControlPlaneRegistration, {
    metadata: { name },
    spec: { controlPlaneRef: { name: controlPlane }, services },
  });

/** As a controller manager does it. */
const say = (client: Client, name: string, status: 'True' | 'False' | 'Unknown' | undefined) => {
  const condition = {
    type: 'ControllersReady',
    status,
    reason: 'X',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  const body = { status: { conditions: status === undefined ? [] : [condition] } };
  return client.status.patch(ControlPlaneRegistration, { name }, { type: 'merge', body });
};

const marks = ({ metadata }: TenantObject): [string | undefined, string | undefined] => [
  metadata.annotations?.[controllersAnnotation],
  metadata.annotations?.[annotations.controllersBy],
];
const tenant = (client: Client, value: string | undefined, by: string | undefined) =>
  until(client, Tenant, 'p', (one) => one !== undefined && marks(one)[0] === value && marks(one)[1] === by);

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
  // When this one is done, the one before has been looked at.
  await claimed(client, {}, 'b');
  await register(client, 's', ['controllers'], 'b');
  await say(client, 's', 'True');
  await until(client, Tenant, 'b', (one) => one !== undefined && marks(one)[1] === 's');
  assert.deepEqual(
    operator.writes.filter((one) => !one.includes('/tenants/b')),
    [],
  );
});
