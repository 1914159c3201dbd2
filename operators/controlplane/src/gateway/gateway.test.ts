/** Routes of control planes: created, repaired, moved, deleted; and their conditions. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { CustomResourceDefinition } from '@hangar/client/kinds/apiextensions-v1';
import { Namespace } from '@hangar/client/kinds/core-v1';
import { findCondition, isConditionTrue } from '@hangar/runtime';
import { ControlPlane, ControlPlaneClass, ControlPlaneEndpoint, labels } from '../api/index.ts';
import type { ControlPlaneClassSpec, ControlPlaneSpec } from '../api/index.ts';
import { startTestPlatform } from '../testing/platform.ts';
import type { TestPlatform } from '../testing/platform.ts';
import { isReady, until, untilGone, untilReady, untilReason } from '../testing/until.ts';
import { edge, installGatewayApi, makeClass, say, TlsRoute } from './testing/gateway-api.ts';
import { definitionName, tlsRoute } from './tls-route.ts';

const key = { namespace: 'server', name: 'controlplane-demo' };
const type = 'GatewayProgrammed';

const create = (client: Client, spec: ControlPlaneSpec = {}, name = 'demo') =>
  client.create(ControlPlane, { metadata: { name }, spec: { classRef: { name: 'edge' }, ...spec } });

const said = (client: Client, reason: string, name = 'demo') => untilReason(client, name, reason, type);

const changeClass = (client: Client, gateway: object | null) =>
  client.patch(ControlPlaneClass, { name: 'edge' }, { type: 'merge', body: { spec: { gateway } } });

const routeGone = (client: Client, { namespace, name } = key) =>
  until(client, TlsRoute, name, (one) => one === undefined, namespace);

async function start(options: { readonly gateway?: ControlPlaneClassSpec['gateway'] } = {}): Promise<TestPlatform> {
  const platform = await startTestPlatform();
  await installGatewayApi(platform.client);
  await makeClass(platform.client, options.gateway ?? edge);
  return platform;
}

test('a control plane with a host name gets a route from the Gateway of its class to the API server', async () => {
  await using platform = await start();
  const operator = platform.start();
  const { client } = platform;
  const { metadata } = await create(client);
  const waiting = await said(client, 'RouteNotAccepted');
  assert.match(
    findCondition(waiting.status?.conditions, type)!.message,
    /waiting for the controller of Gateway "edge\/front" to accept/,
  );
  const route = await client.get(TlsRoute, key);
  assert.equal(route.metadata.labels?.[labels.name], 'demo');
  assert.equal(route.metadata.labels?.['app.kubernetes.io/managed-by'], 'hangar-operator');
  assert.equal(route.metadata.ownerReferences?.[0]?.uid, metadata.uid);
  assert.deepEqual(route.spec, {
    parentRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'front', namespace: 'edge' }],
    hostnames: ['demo.planes.example'],
    rules: [{ backendRefs: [{ group: '', kind: 'Service', name: 'hangar', port: 6443, weight: 1 }] }],
  });
  await untilReady(client, 'demo');
  await say(client, key, { status: 'True', reason: 'Accepted' });
  await said(client, 'RouteAccepted');
  await platform.quiet();
  await operator.stop();
  platform.forget();
  platform.start();
  await platform.quiet();
  assert.deepEqual(platform.writes, [], 'what is as it should be is not written again');
});

test('what the controller of the Gateway says is followed', async () => {
  await using platform = await start();
  platform.start();
  const { client } = platform;
  await create(client);
  await said(client, 'RouteNotAccepted');
  await say(client, key, { status: 'False', reason: 'NotAllowedByListeners' });
  const isRefused = (one: ControlPlane | undefined): boolean =>
    findCondition(one?.status?.conditions, type)?.message.includes('NotAllowedByListeners') ?? false;
  await until(client, ControlPlane, 'demo', isRefused);
  await say(client, key, { type: 'ResolvedRefs', status: 'False', reason: 'BackendNotFound' });
  await said(client, 'RouteRefsNotResolved');
  await say(client, key, { status: 'True', reason: 'Accepted' });
  const accepted = await said(client, 'RouteAccepted');
  assert.ok(isConditionTrue(accepted.status?.conditions, type));
  // Of another Gateway, and of an earlier version of the route: neither counts.
  await say(client, key, { status: 'True', reason: 'Accepted', parentRef: { name: 'back', namespace: 'edge' } });
  await said(client, 'RouteNotAccepted');
  await changeClass(client, { apiServerRef: { port: 8443 } });
  await until(
    client,
    TlsRoute,
    key.name,
    (one) => one?.spec?.rules?.[0]?.backendRefs?.[0]?.port === 8443,
    key.namespace,
  );
  await say(client, key, { status: 'True', reason: 'Accepted', observedGeneration: 1 });
  await platform.quiet();
  await said(client, 'RouteNotAccepted');
});

test('without the Gateway API the control plane is ready and says so; when the API comes the route does, at once', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await makeClass(client);
  await create(client);
  const { status } = await said(client, 'GatewayAPIMissing');
  assert.ok(findCondition(status?.conditions, type)?.message.includes('install the Gateway API'));
  await untilReady(client, 'demo');
  await platform.quiet();
  platform.forget();
  await platform.quiet();
  assert.deepEqual(platform.requests, [], 'nobody asks again and again');
  await installGatewayApi(client);
  await said(client, 'RouteNotAccepted');
  await client.get(TlsRoute, key);
  await client.delete(CustomResourceDefinition, { name: definitionName });
  await said(client, 'GatewayAPIMissing');
  await untilGone(client, CustomResourceDefinition, definitionName);
  await installGatewayApi(client);
  await said(client, 'RouteNotAccepted');
  await client.get(TlsRoute, key);
});

test('the newest version that is served is used, also when that changes', async () => {
  await using platform = await startTestPlatform();
  const { client } = platform;
  await installGatewayApi(client, ['v1alpha2', 'v1alpha3']);
  await makeClass(client);
  platform.start();
  await create(client);
  await said(client, 'RouteNotAccepted');
  const used = () => platform.writes.filter((one) => one.includes('/tlsroutes')).map((one) => one.split('/')[3]);
  assert.deepEqual(used(), ['v1alpha3']);
  await installGatewayApi(client, ['v1alpha2', 'v1alpha3', 'v1']);
  await platform.quiet();
  platform.forget();
  await client.patch(tlsRoute('v1'), key, { type: 'merge', body: { spec: { hostnames: ['wrong.example'] } } });
  await until(client, TlsRoute, key.name, (one) => one?.spec?.hostnames?.[0] === 'demo.planes.example', key.namespace);
  assert.deepEqual(used(), ['v1']);
});

test('a control plane without a host name says so, and gets its route with the name', async () => {
  await using platform = await start({ gateway: { parentRef: edge.parentRef, apiServerRef: edge.apiServerRef } });
  platform.start();
  const { client } = platform;
  await create(client);
  await said(client, 'HostnameMissing');
  await untilReady(client, 'demo');
  const named = (hostname: string | null) => ({
    type: 'merge' as const,
    body: { spec: { endpointPolicy: { hostname } } },
  });
  await client.patch(ControlPlane, { name: 'demo' }, named('mine.example'));
  await until(client, TlsRoute, key.name, (one) => one?.spec?.hostnames?.[0] === 'mine.example', key.namespace);
  await client.patch(ControlPlane, { name: 'demo' }, named('yours.example'));
  await until(client, TlsRoute, key.name, (one) => one?.spec?.hostnames?.[0] === 'yours.example', key.namespace);
  await client.patch(ControlPlane, { name: 'demo' }, named(null));
  await routeGone(client);
  await said(client, 'HostnameMissing');
});

test('a name outside of the domain of the class is not routed, however it was typed', async () => {
  await using platform = await start();
  platform.start();
  const { client } = platform;
  await create(client, { endpointPolicy: { hostname: 'shop.example' } });
  const { status } = await said(client, 'HostnameNotAllowed');
  assert.match(
    findCondition(status?.conditions, type)!.message,
    /^host names not allowed: shop\.example: .*ControlPlaneClass "edge"/,
  );
  assert.equal(await find(client, TlsRoute, key), undefined);
  await untilReady(client, 'demo');
  const named = (hostname: string | null) =>
    client.patch(ControlPlane, { name: 'demo' }, { type: 'merge', body: { spec: { endpointPolicy: { hostname } } } });
  await named('mine.planes.example');
  await until(client, TlsRoute, key.name, (one) => one?.spec?.hostnames?.[0] === 'mine.planes.example', key.namespace);
  await named('planes.example');
  await routeGone(client);
  await named(null);
  await said(client, 'RouteNotAccepted');

  const spec = {
    endpoint: 'https://hangar.example',
    externalEndpoint: 'https://theirs.planes.example',
    joinEndpoint: 'https://bank.example',
  };
  await client.create(ControlPlaneEndpoint, { metadata: { name: 'typed' }, spec });
  await create(client, { endpointRef: { name: 'typed' } }, 'other');
  const other = await said(client, 'HostnameNotAllowed', 'other');
  assert.match(
    findCondition(other.status?.conditions, type)!.message,
    /^host names not allowed: bank\.example.* waiting for the controller/,
  );
  const route = await client.get(TlsRoute, { ...key, name: 'controlplane-other' });
  assert.deepEqual(route.spec?.hostnames, ['theirs.planes.example']);
});

test('a class that does not say which server says so', async () => {
  await using platform = await start({ gateway: { parentRef: edge.parentRef, hostnameTemplate: '{name}.example' } });
  platform.start();
  await create(platform.client);
  await said(platform.client, 'APIServerRefMissing');
  await untilReady(platform.client, 'demo');
});

test('the route moves with the namespace of the server, and goes with the Gateway of the class', async () => {
  await using platform = await start();
  platform.start();
  const { client } = platform;
  await create(client);
  await said(client, 'RouteNotAccepted');
  await changeClass(client, { apiServerRef: { namespace: null } });
  const moved = { namespace: 'edge', name: key.name };
  await until(client, TlsRoute, moved.name, (one) => one !== undefined, moved.namespace);
  await routeGone(client);
  await changeClass(client, null);
  await routeGone(client, moved);
  const isSilent = (one: ControlPlane | undefined): boolean => !findCondition(one?.status?.conditions, type);
  assert.ok(isReady(await until(client, ControlPlane, 'demo', isSilent)));
});

test('a route that moved while no operator looked is found by the next one', async () => {
  await using platform = await start();
  const { client } = platform;
  const operator = platform.start();
  await create(client);
  await said(client, 'RouteNotAccepted');
  await operator.stop();
  await changeClass(client, { apiServerRef: { namespace: 'other' } });
  platform.start();
  await until(client, TlsRoute, key.name, (one) => one !== undefined, 'other');
  await routeGone(client);
});

test('what somebody changes in a route is put right, what they add to it stays', async () => {
  await using platform = await start();
  platform.start();
  const { client } = platform;
  await create(client);
  await said(client, 'RouteNotAccepted');
  const before = await client.get(TlsRoute, key);
  const wrong = {
    metadata: { labels: { team: 'a', [labels.name]: null } },
    spec: { parentRefs: [], hostnames: ['x.example'] },
  };
  await client.patch(TlsRoute, key, { type: 'merge', body: wrong });
  const right = await until(
    client,
    TlsRoute,
    key.name,
    (one) => one?.metadata.labels?.[labels.name] === 'demo',
    key.namespace,
  );
  assert.deepEqual(right?.spec, before.spec);
  assert.equal(right?.metadata.labels?.['team'], 'a');
  assert.equal(right?.metadata.uid, before.metadata.uid);
  await client.delete(TlsRoute, key);
  await until(
    client,
    TlsRoute,
    key.name,
    (one) => one !== undefined && one.metadata.uid !== before.metadata.uid,
    key.namespace,
  );
});

test('a route of that name that is somebody else’s is never touched', async () => {
  await using platform = await start();
  platform.start();
  const { client } = platform;
  const mine = { metadata: { ...key, labels: { [labels.name]: 'demo' } }, spec: { hostnames: ['theirs.example'] } };
  const { metadata } = await client.create(TlsRoute, mine);
  await create(client);
  await said(client, 'RouteConflict');
  await untilReady(client, 'demo');
  await client.delete(ControlPlane, { name: 'demo' });
  await untilGone(client, ControlPlane, 'demo');
  assert.equal((await client.get(TlsRoute, key)).metadata.resourceVersion, metadata.resourceVersion);
});

test('a namespace that is not there is told, and the route comes with it', async () => {
  await using platform = await start({ gateway: { ...edge, apiServerRef: { name: 'hangar', namespace: 'later' } } });
  platform.start();
  const { client } = platform;
  await create(client);
  const { status } = await said(client, 'RouteWriteFailed');
  assert.match(findCondition(status?.conditions, type)!.message, /later/);
  await untilReady(client, 'demo');
  await client.create(Namespace, { metadata: { name: 'later' } });
  await said(client, 'RouteNotAccepted');
});

test('the route goes with the control plane, by the operator’s own hand', async () => {
  await using platform = await start();
  platform.start();
  const { client } = platform;
  await create(client);
  await said(client, 'RouteNotAccepted');
  await client.delete(ControlPlane, { name: 'demo' });
  await untilGone(client, ControlPlane, 'demo');
  assert.equal(await find(client, TlsRoute, key), undefined);
});

test('each control plane has its own route, however many there are', async () => {
  await using platform = await start();
  platform.start();
  const { client } = platform;
  const names = Array.from({ length: 20 }, (_, at) => `cp-${at}`);
  await Promise.all(names.map((name) => create(client, {}, name)));
  await Promise.all(names.map((name) => said(client, 'RouteNotAccepted', name)));
  const { items } = await client.list(TlsRoute, { namespace: 'server' });
  assert.deepEqual(
    items.map(({ spec }) => spec?.hostnames?.join(' ')).sort(),
    names.map((name) => `${name}.planes.example`).sort(),
  );
});
