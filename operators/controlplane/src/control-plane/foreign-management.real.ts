/**
 * The operator on a real kube-apiserver, for a separate Hangar whose tenants it enters with certificates: the four manifests, in several
 * orders, and a life of a control plane. It is an administrator on both sides here; ../rbac.real.ts shows that its declared permissions are
 * enough.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startRealServer } from '@hangar/api/testing';
import { configOfKubeconfig, connect } from '@hangar/client';
import type { Client } from '@hangar/client';
import { ConfigMap, Namespace, Secret } from '@hangar/client/kinds/core-v1';
import { Logger, systemClock } from '@hangar/core';
import { isConditionTrue } from '@hangar/runtime';
import { startTestFleet } from '@hangar/testkit';
import type { TestFleet } from '@hangar/testkit';
import { installDefinitions } from '../api/install.ts';
import { ControlPlane, ControlPlaneRegistration } from '../api/index.ts';
import { kubeconfigHost, Tenant } from '../host/index.ts';
import { controlPlaneOperator } from '../operator.ts';
import { examples, orders } from '../testing/examples.ts';
import { granted } from '../testing/granted.ts';
import { namespaceEnder } from '../testing/namespace-ender.ts';
import { until, untilGone, untilReady } from '../testing/until.ts';
import { textOf } from './kept-secret.ts';

interface Place extends AsyncDisposable {
  /** Of the real kube-apiserver. */
  readonly client: Client;
  readonly fleet: TestFleet;
}

const token = 'of-the-test';
const silent = new Logger({ level: 'error', format: 'text', clock: systemClock, write: () => {} });

async function started(): Promise<Place> {
  await using opened = new AsyncDisposableStack();
  const real = opened.use(await startRealServer([], [{ token, user: 'test', groups: ['system:masters'] }]));
  const fleet = opened.use(await startTestFleet({ clusters: [], listen: true }));
  const credentials = { headers: () => ({ authorization: `Bearer ${token}` }) };
  const client = connect({ server: real.url, isInsecure: true, credentials });
  opened.defer(() => client.close());
  await installDefinitions(client);
  const ender = namespaceEnder(client);
  opened.defer(() => ender.stop());
  const host = kubeconfigHost({ config: fleet.configOf() });
  opened.defer(() => host.client.close());
  const ending = new AbortController();
  const running = controlPlaneOperator({ management: client, host, metrics: false, log: silent }).run(ending.signal);
  opened.defer(async () => {
    ending.abort();
    await running;
  });
  const closing = opened.move();
  return { client, fleet, [Symbol.asyncDispose]: () => closing.disposeAsync() };
}

test('on a real kube-apiserver the four manifests become ready and go, in several orders', async () => {
  await using place = await started();
  const { client, fleet } = place;
  const all = [...orders(examples)];
  for (const at of [0, 7, 14, 23]) {
    for (const one of all[at]!) await one.create(client);
    await untilReady(client, 'example');
    await until(client, ControlPlaneRegistration, 'example', (one) =>
      isConditionTrue(one?.status?.conditions, 'Ready'),
    );
    for (const one of all[(at * 7 + 5) % all.length]!) await one.delete(client);
    for (const { kind, name } of examples) await untilGone(client, kind, name);
    await untilGone(client, Namespace, 'kplane-cp-example');
    assert.deepEqual((await fleet.client.list(Tenant)).items, []);
  }
});

test('on a real kube-apiserver a control plane can be used over TLS with the kubeconfig of its Secret', async () => {
  await using place = await started();
  const { client } = place;
  await client.create(ControlPlane, { metadata: { name: 'demo' }, spec: { deletionPolicy: 'Destroy' } });
  const { status } = await untilReady(client, 'demo');
  const config = await configOfKubeconfig(textOf(await client.get(Secret, status!.kubeconfigSecretRef!), 'kubeconfig'));
  const admin = connect(config);
  await granted(() => admin.create(ConfigMap, { metadata: { namespace: 'default', name: 'by-the-administrator' } }));
  await admin.close();
  await client.delete(ControlPlane, { name: 'demo' });
  await untilGone(client, ControlPlane, 'demo');
  assert.deepEqual(place.fleet.clusters, []);
});
