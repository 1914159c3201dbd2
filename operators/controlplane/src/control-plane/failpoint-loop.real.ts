/**
 * The operator is killed before and after every write of its reconciler: when a control plane is created, changed and deleted. The next
 * operator completes the work, and then writes nothing more.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { find } from '@hangar/client';
import { ConfigMap, Namespace, Secret } from '@hangar/client/kinds/core-v1';
import { ClusterRoleBinding } from '@hangar/client/kinds/rbac-v1';
import { CodedError, Failpoints } from '@hangar/core';
import { ControlPlane, ControlPlaneClass, ControlPlaneEndpoint } from '../api/index.ts';
import { edge, installGatewayApi, TlsRoute } from '../gateway/testing/gateway-api.ts';
import type { TlsRoute as TlsRouteObject } from '../gateway/tls-route.ts';
import { Tenant } from '../host/index.ts';
import { adminOf } from '../testing/admin.ts';
import { granted } from '../testing/granted.ts';
import { startTestPlatform } from '../testing/platform.ts';
import type { TestPlatform } from '../testing/platform.ts';
import { until, untilGone, untilReady } from '../testing/until.ts';
import { adoptByAnnotation } from './claim.ts';

/** Records the failpoints that an undisturbed run passes. */
class Recorded extends Failpoints {
  readonly names = new Set<string>();

  override hit(name: string): void {
    this.names.add(name);
    super.hit(name);
  }
}

/**
 * Runs `act` with an operator that stops at the failpoint: its pass goes no further. Concurrent writes arrive, as they may when a process
 * is killed. Objects inside of a tenant are written together, and share a failpoint by kind: the first one counts.
 */
async function endedAt(platform: TestPlatform, failpoint: string, act: () => Promise<unknown>): Promise<void> {
  const failpoints = new Failpoints();
  const killed = Promise.withResolvers<void>();
  failpoints.arm(failpoint, {
    times: 1,
    run: killed.resolve,
    throws: new CodedError('Aborted', 'the process is gone'),
  });
  const operator = platform.start(failpoints);
  await act();
  await killed.promise;
  await operator.stop();
}

async function recorded(platform: TestPlatform, act: () => Promise<unknown>): Promise<string[]> {
  const failpoints = new Recorded();
  const operator = platform.start(failpoints);
  await act();
  await platform.quiet();
  await operator.stop();
  return [...failpoints.names].sort();
}

/** With every optional field; or with every mutable field changed. */
const classes = {
  one: {
    auth: { model: 'token', defaultRole: 'cluster-admin' },
    addons: ['starter'],
    deletionPolicy: 'Destroy',
    gateway: edge,
  },
  other: {
    auth: { model: 'certificate', defaultRole: 'view' },
    addons: ['more'],
    deletionPolicy: 'Destroy',
    gateway: { ...edge, apiServerRef: { name: 'hangar', namespace: 'other' } },
  },
} as const;

/** In the domain of the class's template: others are not routed. */
const endpointSpec = (host: string) => ({
  endpoint: 'https://shared.example',
  externalEndpoint: `https://${host}.planes.example`,
  joinEndpoint: `https://${host}-join.planes.example/`,
});

async function prepared(): Promise<TestPlatform> {
  const platform = await startTestPlatform();
  const { client } = platform;
  await installGatewayApi(client);
  for (const name of ['server', 'other']) await client.create(Namespace, { metadata: { name } });
  for (const [name, spec] of Object.entries(classes)) {
    await client.create(ControlPlaneClass, { metadata: { name }, spec: { ...spec, addons: [...spec.addons] } });
  }
  const data = { 'one.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more, namespace: default}\n' };
  const metadata = { namespace: 'kplane-system', name: 'more', labels: { 'controlplane.kplane.dev/addon': 'more' } };
  await client.create(Namespace, { metadata: { name: 'kplane-system' } });
  await client.create(ConfigMap, { metadata, data });
  return platform;
}

const create = (platform: TestPlatform, name: string): Promise<unknown> =>
  platform.client.create(ControlPlane, { metadata: { name }, spec: { classRef: { name: 'one' } } });

async function makeSureOf(platform: TestPlatform, name: string): Promise<void> {
  const { client } = platform;
  const { status, spec } = await untilReady(client, name);
  const secret = await client.get(Secret, status!.kubeconfigSecretRef!);
  const admin = await adminOf(platform, secret, name);
  await granted(() => admin.list(ConfigMap, { namespace: 'default' }));
  const inside = platform.inside(name);
  const binding = await inside.get(ClusterRoleBinding, { name: 'controlplane-admin' });
  const isOne = spec.classRef!.name === 'one';
  assert.equal(binding.roleRef.name, isOne ? 'cluster-admin' : 'view');
  assert.equal(binding.subjects?.[0]?.kind, isOne ? 'ServiceAccount' : 'User');
  assert.equal((await find(inside, ConfigMap, { namespace: 'kplane-system', name: 'welcome' })) !== undefined, isOne);
  assert.equal((await find(inside, ConfigMap, { namespace: 'default', name: 'more' })) !== undefined, !isOne);
  const { items } = await inside.list(Secret, {
    namespace: 'kube-system',
    fieldSelector: 'type=bootstrap.kubernetes.io/token',
  });
  const join = await client.get(Secret, { namespace: `kplane-cp-${name}`, name: `controlplane-${name}-join` });
  const token = Buffer.from(join.data!['token']!, 'base64').toString();
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    [`bootstrap-token-${token.split('.')[0]}`],
  );
  await makeSureOfRoute(platform, name, isOne ? ['server', 'other'] : ['other', 'server']);
}

async function makeSureOfRoute(
  { client }: TestPlatform,
  name: string,
  [where, elsewhere]: readonly string[],
): Promise<void> {
  const tenant = await client.get(Tenant, { name });
  const route = await client.get(TlsRoute, { namespace: where!, name: `controlplane-${name}` });
  assert.deepEqual(route.spec?.hostnames, tenant.spec?.hosts);
  // An old route is deleted when a new operator has seen it.
  await until(client, TlsRoute, `controlplane-${name}`, (one) => one === undefined, elsewhere);
}

test('an operator that ends at any write while it makes a control plane leaves one that another operator completes', async () => {
  await using platform = await prepared();
  const names = await recorded(platform, async () => {
    await create(platform, 'first');
    await untilReady(platform.client, 'first');
  });
  assert.ok(names.length >= 34, `there are ${names.length}`);
  for (const [at, failpoint] of names.entries()) {
    await endedAt(platform, failpoint, () => create(platform, `cp-${at}`));
    const operator = platform.start();
    await makeSureOf(platform, `cp-${at}`);
    await operator.stop();
  }
  await nothingMore(platform);
});

test('an operator that ends at any write while a control plane changes leaves one that another operator completes', async () => {
  await using platform = await prepared();
  const { client } = platform;
  await client.create(ControlPlaneEndpoint, { metadata: { name: 'front' }, spec: endpointSpec('a') });
  let turns = 0;
  /** There and back: another class, a named or an allocated endpoint, and another address of the endpoint. */
  const change = async (): Promise<void> => {
    const isThere = turns++ % 2 === 0;
    const spec = isThere
      ? { classRef: { name: 'other' }, endpointRef: { name: 'front' } }
      : { classRef: { name: 'one' }, endpointRef: null };
    const body = { spec: endpointSpec(isThere ? 'b' : 'a') };
    await client.patch(ControlPlaneEndpoint, { name: 'front' }, { type: 'merge', body });
    await client.patch(ControlPlane, { name: 'demo' }, { type: 'merge', body: { spec } });
  };
  const all = await recorded(platform, async () => {
    await create(platform, 'demo');
    await untilReady(client, 'demo');
  });
  const both = async (): Promise<string[]> =>
    recorded(platform, async () => {
      await change();
      await untilReady(client, 'demo');
    });
  const [there, back] = [await both(), await both()];
  assert.ok(there.includes('controlplane.route-release.after'));
  assert.ok(there.length >= 20 && back.length >= 20, `there are ${there.length} and ${back.length} of ${all.length}`);
  // Each once, in a direction in which it occurs.
  const left = new Set([...there, ...back]);
  while (left.size > 0) {
    const failpoint = (turns % 2 === 0 ? there : back).find((name) => left.delete(name));
    if (failpoint !== undefined) await endedAt(platform, failpoint, change);
    else await change();
    const operator = platform.start();
    await makeSureOf(platform, 'demo');
    await operator.stop();
  }
  await nothingMore(platform);
});

test('an operator that ends at any write while a control plane goes leaves nothing behind', async () => {
  await using platform = await prepared();
  const { client } = platform;
  const made = async (name: string): Promise<void> => {
    const operator = platform.start();
    await create(platform, name);
    await untilReady(client, name);
    await operator.stop();
  };
  await made('first');
  const names = await recorded(platform, async () => {
    await client.delete(ControlPlane, { name: 'first' });
    await untilGone(client, ControlPlane, 'first');
  });
  assert.ok(names.length >= 12, `there are ${names.length}`);
  for (const [at, failpoint] of names.entries()) {
    const name = `cp-${at}`;
    await made(name);
    await endedAt(platform, failpoint, () => client.delete(ControlPlane, { name }));
    const operator = platform.start();
    await untilGone(client, ControlPlane, name);
    await untilGone(client, Namespace, `kplane-cp-${name}`);
    await operator.stop();
  }
  assert.ok(names.includes('controlplane.delete.tlsroutes.after'));
  assert.deepEqual((await client.list(Tenant)).items, []);
  assert.deepEqual((await client.list(ControlPlaneEndpoint)).items, []);
  assert.deepEqual((await client.list(TlsRoute)).items, []);
});

const sides = ['before', 'after'];

test('an operator that ends while it adopts a tenant leaves one that another operator completes', async () => {
  await using platform = await prepared();
  const { client } = platform;
  for (const side of sides) {
    const name = `restored-${side}`;
    const annotations = { [adoptByAnnotation]: name };
    const { metadata } = await client.create(Tenant, { metadata: { name, annotations }, spec: {} });
    await endedAt(platform, `controlplane.adoption.${side}`, () => create(platform, name));
    const operator = platform.start();
    await makeSureOf(platform, name);
    assert.equal((await client.get(Tenant, { name })).metadata.uid, metadata.uid);
    await operator.stop();
  }
  await nothingMore(platform);
});

test('an operator that ends while it puts a route right leaves one that another operator completes', async () => {
  await using platform = await prepared();
  const { client } = platform;
  const operator = platform.start();
  await create(platform, 'demo');
  await makeSureOf(platform, 'demo');
  await operator.stop();
  for (const side of sides) {
    const gateway = { hostnameTemplate: `{name}.${side}.example` };
    await endedAt(platform, `controlplane.route-wish.${side}`, () =>
      client.patch(ControlPlaneClass, { name: 'one' }, { type: 'merge', body: { spec: { gateway } } }),
    );
    const next = platform.start();
    const isRight = (one: TlsRouteObject | undefined): boolean => one?.spec?.hostnames?.[0] === `demo.${side}.example`;
    await until(client, TlsRoute, 'controlplane-demo', isRight, 'server');
    await platform.quiet();
    await makeSureOf(platform, 'demo');
    await next.stop();
  }
  await nothingMore(platform);
});

/** An object in the desired state is not written again, by this operator or by another one. */
async function nothingMore(platform: TestPlatform): Promise<void> {
  const { client } = platform;
  const first = platform.start();
  for (const { metadata } of (await client.list(ControlPlane)).items)
    await until(client, ControlPlane, metadata.name!, () => true);
  await platform.quiet();
  await first.stop();
  platform.forget();
  const second = platform.start();
  await platform.quiet();
  assert.deepEqual(platform.writes, []);
  await second.stop();
}
