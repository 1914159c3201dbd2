import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '@hangar/client';
import { systemClock } from '@hangar/core';
import { controllerReference, findCondition } from '@hangar/runtime';
import { annotations, ControlPlane, ControlPlaneEndpoint, labels } from '../api/index.ts';
import { startLoneOperator } from '../testing/lone-operator.ts';
import { until } from '../testing/until.ts';
import { addEndpointIndex, endpointController } from './controller.ts';

const host = { internalUrl: 'https://hangar.internal:6443', externalUrl: 'https://hangar.example' };

const start = () =>
  startLoneOperator(({ manager }) => {
    addEndpointIndex(manager.cluster.cache);
    manager.controller(endpointController({ host, clock: systemClock }));
  });

const ours = { [labels.endpointProvider]: 'hangar' };
const plane = (client: Client) =>
  client.create(ControlPlane, { metadata: { name: 'a' }, spec: { virtual: { clusterPath: 'p' } } });

async function allocate(client: Client, owner: ControlPlane, own: Record<string, string> = ours, name = 'a') {
  const metadata = { name, labels: own, ownerReferences: [controllerReference(owner)] };
  return client.create(ControlPlaneEndpoint, { metadata, spec: {} });
}

const ready = (client: Client, status: string, name = 'a') =>
  until(
    client,
    ControlPlaneEndpoint,
    name,
    (one) => findCondition(one?.status?.conditions, 'Ready')?.status === status,
  );

test('an endpoint that is labelled for it gets addresses, and follows its host name', async () => {
  await using operator = await start();
  const { client } = operator;
  await allocate(client, await plane(client));
  const { status } = (await ready(client, 'True'))!;
  assert.equal(status!.endpoint, 'https://hangar.internal:6443/clusters/p/control-plane');
  assert.equal(status!.externalEndpoint, 'https://hangar.example/clusters/p/control-plane');
  assert.deepEqual(
    status!.conditions!.map(({ type, status, reason }) => [type, status, reason]),
    ['Accepted', 'Programmed', 'Ready'].map((type) => [type, 'True', type]),
  );
  const body = { metadata: { annotations: { [annotations.hostname]: 'a.example' } } };
  await client.patch(ControlPlaneEndpoint, { name: 'a' }, { type: 'merge', body });
  await until(client, ControlPlaneEndpoint, 'a', (one) => one?.status?.externalEndpoint === 'https://a.example');
});

test('what somebody writes over its addresses is put right, and other conditions stay', async () => {
  await using operator = await start();
  const { client } = operator;
  await allocate(client, await plane(client));
  const { status } = (await ready(client, 'True'))!;
  const said = { ...status!.conditions![0]!, type: 'Seen' };
  const body = {
    status: {
      endpoint: 'https://evil.example',
      joinEndpoint: 'https://evil.example',
      conditions: [...status!.conditions!, said],
    },
  };
  await client.status.patch(ControlPlaneEndpoint, { name: 'a' }, { type: 'merge', body });
  const after = (await until(client, ControlPlaneEndpoint, 'a', (one) => one?.status?.endpoint === status!.endpoint))!;
  assert.equal(after.status!.joinEndpoint, undefined);
  assert.ok(findCondition(after.status!.conditions, 'Seen'));
});

test('an endpoint without an owner, or of one that was made anew, is refused until there is one', async () => {
  await using operator = await start();
  const { client } = operator;
  const first = await plane(client);
  await client.delete(ControlPlane, { name: 'a' });
  await allocate(client, first);
  const { status } = (await ready(client, 'False'))!;
  assert.equal(findCondition(status!.conditions, 'Accepted')!.reason, 'OwnerMissing');
  assert.equal(status!.endpoint, undefined);
  const second = await plane(client);
  await ready(client, 'False');
  const body = { metadata: { ownerReferences: [controllerReference(second)] } };
  await client.patch(ControlPlaneEndpoint, { name: 'a' }, { type: 'merge', body });
  await ready(client, 'True');
  await client.delete(ControlPlane, { name: 'a' });
  await ready(client, 'False');
});

test("others' endpoints are not touched, and nothing is written twice", async () => {
  await using operator = await start();
  const { client } = operator;
  const owner = await plane(client);
  await allocate(client, owner, { [labels.endpointProvider]: 'other' }, 'theirs');
  await allocate(client, owner, {}, 'nobodys');
  await allocate(client, owner);
  await ready(client, 'True');
  await operator.restart(() => Promise.resolve(operator.forget()));
  await allocate(client, owner, ours, 'last');
  await ready(client, 'True', 'last');
  assert.deepEqual(operator.writes, ['PATCH /apis/controlplane.kplane.dev/v1alpha1/controlplaneendpoints/last/status']);
});
