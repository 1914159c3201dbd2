/** Conditions of a control plane that is not possible, and its recovery when the cause is removed. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { find } from '@hangar/client';
import { ConfigMap, Secret } from '@hangar/client/kinds/core-v1';
import { findCondition } from '@hangar/runtime';
import { ControlPlane, ControlPlaneClass, ControlPlaneEndpoint } from '../api/index.ts';
import type { ControlPlaneSpec } from '../api/index.ts';
import { Tenant } from '../host/index.ts';
import { startTestPlatform } from '../testing/platform.ts';
import type { TestPlatform } from '../testing/platform.ts';
import { until, untilGone, untilReady, untilReason } from '../testing/until.ts';

const create = ({ client }: TestPlatform, name: string, spec: ControlPlaneSpec = {}) =>
  client.create(ControlPlane, { metadata: { name }, spec });

const said = (one: ControlPlane, type: string): string => {
  const { status, reason } = findCondition(one.status?.conditions, type)!;
  return `${status} ${reason}`;
};

test('a class that is not there is waited for', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await create(platform, 'demo', { classRef: { name: 'gold' } });
  const waiting = await untilReason(client, 'demo', 'ClassNotFound');
  assert.equal(waiting.status?.phase, 'Failed');
  assert.deepEqual(
    [said(waiting, 'Accepted'), said(waiting, 'Programmed')],
    ['False ClassNotFound', 'False ClassNotFound'],
  );
  assert.match(findCondition(waiting.status?.conditions, 'Ready')!.message, /"gold"/);
  await client.create(ControlPlaneClass, { metadata: { name: 'gold' }, spec: {} });
  await untilReady(client, 'demo');
});

test('a mode that the class does not allow is refused until the class allows it', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await client.create(ControlPlaneClass, { metadata: { name: 'own' }, spec: { modesAllowed: ['Dedicated'] } });
  await create(platform, 'demo', { classRef: { name: 'own' } });
  await untilReason(client, 'demo', 'ModeNotAllowed', 'Accepted');
  const body = { spec: { modesAllowed: ['Dedicated', 'Virtual'] } };
  await client.patch(ControlPlaneClass, { name: 'own' }, { type: 'merge', body });
  await untilReady(client, 'demo');
});

test('an auth model that there is not is refused', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await client.create(ControlPlaneClass, { metadata: { name: 'odd' }, spec: { auth: { model: 'constructor' } } });
  await create(platform, 'demo', { classRef: { name: 'odd' } });
  await untilReason(client, 'demo', 'UnsupportedAuthModel', 'Accepted');
});

test('an endpoint that is not there, or not ready, is waited for', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await create(platform, 'demo', { endpointRef: { name: 'front' } });
  const waiting = await untilReason(client, 'demo', 'EndpointPending');
  assert.equal(said(waiting, 'Accepted'), 'True Reconciled');
  assert.equal(waiting.status?.phase, 'Provisioning');
  const labels = { 'controlplane.kplane.dev/endpoint-provider': 'somebody' };
  await client.create(ControlPlaneEndpoint, { metadata: { name: 'front', labels }, spec: {} });
  const status = (endpoint: string, ready: 'True' | 'False') => ({
    status: {
      endpoint,
      conditions: [
        {
          type: 'Ready',
          status: ready,
          reason: 'Test',
          message: 'so it is',
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
    },
  });
  await client.status.patch(
    ControlPlaneEndpoint,
    { name: 'front' },
    { type: 'merge', body: status('https://early.example', 'False') },
  );
  await until(
    client,
    ControlPlane,
    'demo',
    (one) => findCondition(one?.status?.conditions, 'Ready')?.message.includes('so it is') ?? false,
  );
  await client.status.patch(
    ControlPlaneEndpoint,
    { name: 'front' },
    { type: 'merge', body: status('https://late.example', 'True') },
  );
  const ready = await untilReady(client, 'demo');
  assert.equal(ready.status?.endpoint, 'https://late.example/clusters/demo/control-plane');
});

test('an endpoint of its name that is somebody else’s is not used', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await client.create(ControlPlaneEndpoint, {
    metadata: { name: 'demo' },
    spec: { endpoint: 'https://elsewhere.example' },
  });
  await create(platform, 'demo');
  const waiting = await untilReason(client, 'demo', 'EndpointPending');
  assert.match(findCondition(waiting.status?.conditions, 'Ready')!.message, /does not belong to this control plane/);
  await client.delete(ControlPlane, { name: 'demo' });
  await untilGone(client, ControlPlane, 'demo');
  await client.get(ControlPlaneEndpoint, { name: 'demo' });
});

test('host names come from templates and go to the tenant; one that another tenant has is told', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  const gateway = { hostnameTemplate: '{name}.planes.example' };
  await client.create(ControlPlaneClass, { metadata: { name: 'named' }, spec: { gateway } });
  await create(platform, 'red', { classRef: { name: 'named' } });
  const red = await untilReady(client, 'red');
  assert.deepEqual((await client.get(Tenant, { name: 'red' })).spec?.hosts, ['red.planes.example']);
  assert.equal(red.status?.endpoints?.find(({ type }) => type === 'External')?.url, 'https://red.planes.example:6443');
  await create(platform, 'blue', { endpointPolicy: { hostname: 'red.planes.example' } });
  const blue = await untilReason(client, 'blue', 'HostnameRejected');
  assert.match(findCondition(blue.status?.conditions, 'Ready')!.message, /red\.planes\.example/);
  await client.patch(
    ControlPlane,
    { name: 'blue' },
    { type: 'merge', body: { spec: { endpointPolicy: { hostname: 'blue.planes.example' } } } },
  );
  await untilReady(client, 'blue');
  assert.deepEqual((await client.get(Tenant, { name: 'blue' })).spec?.hosts, ['blue.planes.example']);
});

test('what others say on the Tenant is left alone', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await create(platform, 'demo', { endpointPolicy: { hostname: 'a.example' } });
  await untilReady(client, 'demo');
  const body = { spec: { hosts: ['a.example', 'theirs.example'], quota: { objects: 5000 } } };
  await client.patch(Tenant, { name: 'demo' }, { type: 'merge', body });
  const policy = { spec: { endpointPolicy: { hostname: 'b.example' }, deletionPolicy: 'Destroy' } };
  await client.patch(ControlPlane, { name: 'demo' }, { type: 'merge', body: policy });
  await until(
    client,
    Tenant,
    'demo',
    (one) => one?.spec?.deletionPolicy === 'Destroy' && one.spec.hosts!.includes('b.example'),
  );
  const { spec } = await client.get(Tenant, { name: 'demo' });
  assert.deepEqual(spec, {
    deletionPolicy: 'Destroy',
    hosts: ['theirs.example', 'b.example'],
    quota: { objects: 5000 },
  });
});

test('a suspended control plane is not ready, is not entered, and comes back', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await create(platform, 'demo');
  await untilReady(client, 'demo');
  await client.patch(Tenant, { name: 'demo' }, { type: 'merge', body: { spec: { suspension: 'Offline' } } });
  const suspended = await untilReason(client, 'demo', 'Suspended');
  assert.deepEqual([said(suspended, 'Programmed'), said(suspended, 'Ready')], ['True Reconciled', 'False Suspended']);
  assert.equal(suspended.status?.phase, 'Suspended');
  platform.forget();
  // A change that requires access to the tenant.
  await client.create(ControlPlaneClass, { metadata: { name: 'gold' }, spec: { addons: ['starter'] } });
  await client.patch(ControlPlane, { name: 'demo' }, { type: 'merge', body: { spec: { classRef: { name: 'gold' } } } });
  await until(client, ControlPlane, 'demo', (one) => one?.status?.observedGeneration === one?.metadata.generation);
  assert.deepEqual(
    platform.requests.filter((one) => one.includes('/clusters/')),
    [],
  );
  await client.patch(Tenant, { name: 'demo' }, { type: 'merge', body: { spec: { suspension: null } } });
  await untilReady(client, 'demo');
  await platform.inside('demo').get(ConfigMap, { namespace: 'kplane-system', name: 'welcome' });
});

test('a quarantined control plane is suspended, says why, and comes back', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await create(platform, 'demo');
  await untilReady(client, 'demo');
  const times = { since: '2026-01-01T00:00:00Z', until: '2099-01-01T00:00:00Z' };
  const quarantine = { reason: 'EventLoopStalls', message: '3 requests blocked the server', ...times };
  const set = (value: object | null): Promise<unknown> =>
    client.status.patch(Tenant, { name: 'demo' }, { type: 'merge', body: { status: { quarantine: value } } });
  await set(quarantine);
  const quarantined = await untilReason(client, 'demo', 'Quarantined');
  assert.equal(quarantined.status?.phase, 'Suspended');
  const { message } = quarantined.status.conditions!.find(({ reason }) => reason === 'Quarantined')!;
  assert.equal(
    message,
    'the server suspended the control plane (EventLoopStalls): 3 requests blocked the server; ' +
      'the quarantine ends at 2099-01-01T00:00:00Z, or when status.quarantine of Tenant "demo" is removed',
  );
  await set(null);
  await untilReady(client, 'demo');
});

test('a suspended control plane can be deleted', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await create(platform, 'demo', { deletionPolicy: 'Destroy' });
  await untilReady(client, 'demo');
  await client.patch(Tenant, { name: 'demo' }, { type: 'merge', body: { spec: { suspension: 'Offline' } } });
  await untilReason(client, 'demo', 'Suspended');
  await client.delete(ControlPlane, { name: 'demo' });
  await untilGone(client, ControlPlane, 'demo');
  assert.equal(await find(client, Tenant, { name: 'demo' }), undefined);
});

test('a Tenant that somebody deletes is claimed anew, with its data', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await create(platform, 'demo');
  await untilReady(client, 'demo');
  await platform.inside('demo').create(ConfigMap, { metadata: { namespace: 'default', name: 'mark' } });
  const { uid } = (await client.get(Tenant, { name: 'demo' })).metadata;
  const secretKey = { namespace: 'kplane-cp-demo', name: 'controlplane-demo-kubeconfig' };
  const before = await client.get(Secret, secretKey);
  await client.delete(Tenant, { name: 'demo' });
  await until(client, Tenant, 'demo', (one) => one !== undefined && one.metadata.uid !== uid);
  await platform.inside('demo').get(ConfigMap, { namespace: 'default', name: 'mark' });
  const list = () => client.list(Secret, { namespace: secretKey.namespace });
  assert.ok((await list()).items.length === 2 && before !== undefined);
});
