import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '@hangar/client';
import { systemClock } from '@hangar/core';
import { findCondition } from '@hangar/runtime';
import { shardLeaseKind } from '@hangar/runtime/clusters';
import {
  annotations,
  ControlPlane,
  controllersAnnotation,
  ControlPlaneEndpoint,
  ControlPlaneRegistration,
} from '../api/index.ts';
import { tenantsOf } from '../control-plane/index.ts';
import { controlPlaneIndexes } from '../control-plane/indexes.ts';
import { Tenant } from '../host/index.ts';
import { startLoneOperator } from '../testing/lone-operator.ts';
import { until } from '../testing/until.ts';
import { ControllerManagerLiveness } from './controller-manager-liveness.ts';
import { externalControllersController } from './external-controllers.ts';
import { addRegistrationIndexes } from './indexes.ts';
import { addControllerManagerIndexes, lostControllerManagersControllers } from './lost-controller-managers.ts';

const group = 'controller-manager';
const controllerManager = { leaseNamespace: 'default', leaseGroup: group };
const leaseKey = { namespace: 'default', name: `hangar-shard.${group}.peer.first` };

const start = () =>
  startLoneOperator(({ manager, client, log }) => {
    for (const { kind, name, values } of controlPlaneIndexes) manager.addIndex(kind, name, values);
    addRegistrationIndexes(manager.cluster.cache);
    addControllerManagerIndexes(manager.cluster.cache);
    const host = { client } as never;
    const tenants = tenantsOf(host, { clock: systemClock, log });
    manager.add({ name: 'tenants', start: (signal) => tenants.start(signal) }, { needsLeadership: false });
    manager.controller(externalControllersController({ host, tenants }));
    const liveness = new ControllerManagerLiveness({ management: client, clock: systemClock, log, graceMs: 1 });
    for (const one of lostControllerManagersControllers({ clock: systemClock, liveness })) manager.controller(one);
  });

const record = (state: 'active' | 'gone') => ({
  'hangar.dev/shard-peer': JSON.stringify({
    name: 'first',
    id: 'x',
    state,
    weight: 1,
    leaseMs: 3_600_000,
    epochMax: 1,
    draining: [],
    heldCount: 1,
  }),
});

/** As a replica of a controller manager does it. */
const join = (client: Client) =>
  client.create(shardLeaseKind, {
    metadata: { ...leaseKey, labels: { 'hangar.dev/shard-group': group }, annotations: record('active') },
    spec: { leaseDurationSeconds: 3_600 },
  });
const renew = (client: Client, state: 'active' | 'gone') =>
  client.patch(shardLeaseKind, leaseKey, { type: 'merge', body: { metadata: { annotations: record(state) } } });

const conditionsOf = (...types: string[]) =>
  types.map((type) => ({
    type,
    status: 'True' as const,
    reason: 'Ready',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }));

/** A virtual control plane, registered for controllers and a scheduler. */
async function registered(client: Client): Promise<void> {
  const { metadata } = await client.create(ControlPlane, { metadata: { name: 'a' }, spec: {} });
  const claim = { [annotations.name]: 'a', [annotations.uid]: metadata.uid! };
  await client.create(Tenant, { metadata: { name: 'a', annotations: claim } });
  const spec = { controlPlaneRef: { name: 'a' }, services: ['controllers', 'scheduler'] };
  await client.create(ControlPlaneRegistration, { metadata: { name: 'a' }, spec });
  const resolvedEndpoint = 'https://shared/clusters/a/control-plane';
  await client.status.patch(
    ControlPlaneRegistration,
    { name: 'a' },
    { type: 'merge', body: { status: { resolvedEndpoint } } },
  );
}

const say = (client: Client) =>
  client.status.patch(
    ControlPlaneRegistration,
    { name: 'a' },
    {
      type: 'merge',
      body: { status: { controllerManager, conditions: conditionsOf('ControllersReady', 'SchedulerReady') } },
    },
  );

const isExternal = (client: Client, expected: boolean) =>
  until(
    client,
    Tenant,
    'a',
    (one) => one !== undefined && (one.metadata.annotations?.[controllersAnnotation] === 'External') === expected,
  );

const saysLost = (one: ControlPlaneRegistration | ControlPlaneEndpoint | undefined, type: string): boolean => {
  const { status, reason } = findCondition(one?.status?.conditions, type) ?? {};
  return status === 'Unknown' && reason === 'ControllerManagerLost';
};

test('conditions of a controller manager that has exited become Unknown, and the platform serves until it returns', async () => {
  await using operator = await start();
  const { client } = operator;
  await registered(client);
  await join(client);
  await say(client);
  await isExternal(client, true);
  await renew(client, 'gone');
  const lost = await until(client, ControlPlaneRegistration, 'a', (one) => saysLost(one, 'ControllersReady'));
  assert.ok(saysLost(lost, 'SchedulerReady'));
  assert.match(findCondition(lost!.status!.conditions, 'ControllersReady')!.message, /no controller manager renews/);
  await isExternal(client, false);
  // Its Lease alone hands nothing over: the essential controllers serve until the controller manager reports that it takes over.
  await renew(client, 'active');
  await say(client);
  await isExternal(client, true);
  const { status } = await client.get(ControlPlaneRegistration, { name: 'a' });
  assert.equal(findCondition(status?.conditions, 'ControllersReady')?.status, 'True');
});

test('conditions whose Leases are missing when the operator starts become Unknown', async () => {
  await using operator = await start();
  const { client } = operator;
  await registered(client);
  await operator.restart(async () => void (await say(client)));
  await until(client, ControlPlaneRegistration, 'a', (one) => saysLost(one, 'ControllersReady'));
  await isExternal(client, false);
});

test('conditions of endpoints expire like those of registrations', async () => {
  await using operator = await start();
  const { client } = operator;
  await client.create(ControlPlaneEndpoint, { metadata: { name: 'e' }, spec: { endpoint: 'https://e' } });
  const body = { status: { controllerManager, conditions: conditionsOf('ControllersReady', 'Ready') } };
  await client.status.patch(ControlPlaneEndpoint, { name: 'e' }, { type: 'merge', body });
  const lost = await until(client, ControlPlaneEndpoint, 'e', (one) => saysLost(one, 'ControllersReady'));
  assert.equal(findCondition(lost!.status!.conditions, 'Ready')?.status, 'True');
});

test('conditions of a controller manager that names no Leases never expire', async () => {
  await using operator = await start();
  const { client } = operator;
  await registered(client);
  const body = { status: { conditions: conditionsOf('ControllersReady') } };
  await client.status.patch(ControlPlaneRegistration, { name: 'a' }, { type: 'merge', body });
  await isExternal(client, true);
  // When a later endpoint has expired, the registration was reconciled, too.
  await client.create(ControlPlaneEndpoint, { metadata: { name: 'e' }, spec: { endpoint: 'https://e' } });
  const expiring = { status: { controllerManager, conditions: conditionsOf('ControllersReady') } };
  await client.status.patch(ControlPlaneEndpoint, { name: 'e' }, { type: 'merge', body: expiring });
  await until(client, ControlPlaneEndpoint, 'e', (one) => saysLost(one, 'ControllersReady'));
  const { status } = await client.get(ControlPlaneRegistration, { name: 'a' });
  assert.equal(findCondition(status?.conditions, 'ControllersReady')?.status, 'True');
});
