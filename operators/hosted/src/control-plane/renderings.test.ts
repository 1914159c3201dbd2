/** Adoption of renderings: only by an upgrade or by the annotation, forwards and backwards. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '@hangar/client';
import { Deployment, StatefulSet } from '@hangar/client/kinds/apps-v1';
import { findCondition, isConditionTrue } from '@hangar/runtime';
import { annotations, HostedControlPlane } from '../api/index.ts';
import { rendered, renderings } from '../render/index.ts';
import type { Rendered, Rendering } from '../render/index.ts';
import { namespace, startTestPlatform } from '../testing/platform.ts';
import { until, untilReady, untilReason } from '../testing/until.ts';

const key = { namespace, name: 'demo' };
const v1 = renderings.get('1')!;

/** The first rendering with a label on the pods. */
const v2: Rendering = {
  ...v1,
  etcd: (...input) => v1.etcd(...input).map(labelled),
  apiServer: (...input) => v1.apiServer(...input).map(labelled),
};
const both = new Map([
  ['1', v1],
  ['2', v2],
]);

function labelled(one: Rendered): Rendered {
  const { kind, object } = one;
  if (kind.kind !== 'Deployment' && kind.kind !== 'StatefulSet') return one;
  const { spec } = object as Deployment;
  const { metadata, ...template } = spec!.template;
  const labels = { ...metadata?.labels, rendering: '2' };
  return rendered(kind as typeof Deployment, {
    ...(object as Deployment),
    spec: { ...spec!, template: { ...template, metadata: { ...metadata, labels } } },
  });
}

const create = (client: Client) =>
  client.create(HostedControlPlane, { metadata: { ...key }, spec: { version: 'v1.35.0', replicas: 1 } });
const adopt = (client: Client, version: string) =>
  client.patch(HostedControlPlane, key, {
    type: 'merge',
    body: { metadata: { annotations: { [annotations.rendering]: version } } },
  });
const complete = (client: Client, version: string) =>
  until(client, 'demo', ({ status }) => status?.rendering === version && isConditionTrue(status.conditions, 'Ready'));
async function labelsOf(client: Client): Promise<(string | undefined)[]> {
  const deployment = await client.get(Deployment, { namespace, name: 'demo-apiserver' });
  const set = await client.get(StatefulSet, { namespace, name: 'demo-etcd' });
  return [deployment, set].map(({ spec }) => spec!.template!.metadata!.labels!['rendering']);
}

test('a new operator keeps the rendering; the annotation adopts another, and goes back', async () => {
  await using platform = await startTestPlatform();
  const { client, workloads } = platform;
  const old = platform.start();
  await create(client);
  await untilReady(client);
  await old.stop();
  platform.forget();
  platform.start(undefined, both);
  await platform.quiet();
  assert.deepEqual(platform.writes, []);
  workloads.holdBack = /apiserver/;
  await adopt(client, '2');
  const rolling = await untilReason(client, 'APIServerDeploymentsReady', 'DeploymentRollingOut');
  // The status has the rendering that is complete.
  assert.equal(rolling.status!.rendering, '1');
  workloads.holdBack = undefined;
  await workloads.refresh();
  await complete(client, '2');
  assert.deepEqual(await labelsOf(client), ['2', '2']);
  await adopt(client, '1');
  await complete(client, '1');
  assert.deepEqual(await labelsOf(client), [undefined, undefined]);
});

test('an unknown rendering is refused, changes nothing, and recovers', async () => {
  await using platform = await startTestPlatform({ renderings: both });
  platform.start();
  const { client } = platform;
  await create(client);
  await complete(client, '2');
  await adopt(client, '3');
  const { status } = await untilReason(client, 'Ready', 'UnknownRendering');
  assert.match(findCondition(status!.conditions, 'Ready')!.message, /is 3: this operator supports 1, 2/);
  assert.equal(status!.rendering, '2');
  assert.deepEqual(await labelsOf(client), ['2', '2']);
  await adopt(client, '1');
  await complete(client, '1');
});

test('a change of spec.version adopts the newest rendering', async () => {
  await using platform = await startTestPlatform({ renderings: both });
  platform.start();
  const { client } = platform;
  await create(client);
  await complete(client, '2');
  await adopt(client, '1');
  await complete(client, '1');
  await client.patch(HostedControlPlane, key, { type: 'merge', body: { spec: { version: 'v1.36.4' } } });
  const { metadata } = await complete(client, '2');
  assert.equal(metadata.annotations![annotations.rendering], '2');
});

test('a user can go back to the previous rendering while an upgrade is in progress', async () => {
  await using platform = await startTestPlatform({ renderings: both });
  platform.start();
  const { client, workloads } = platform;
  await create(client);
  await complete(client, '2');
  await adopt(client, '1');
  await complete(client, '1');
  workloads.holdBack = /apiserver/;
  await client.patch(HostedControlPlane, key, { type: 'merge', body: { spec: { version: 'v1.36.4' } } });
  await untilReason(client, 'APIServerDeploymentsReady', 'DeploymentRollingOut');
  assert.deepEqual(await labelsOf(client), ['2', '2']);
  await adopt(client, '1');
  workloads.holdBack = undefined;
  await workloads.refresh();
  const { status } = await complete(client, '1');
  assert.equal(status!.version, 'v1.36.4');
  assert.deepEqual(await labelsOf(client), [undefined, undefined]);
});
