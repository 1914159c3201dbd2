/** The kubeconfig Secret: repaired after every change, and its credentials expire as they should. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configOfKubeconfig } from '@hangar/client';
import type { Patch } from '@hangar/client';
import { ConfigMap, Secret } from '@hangar/client/kinds/core-v1';
import { testAuthority } from '@hangar/testkit';
import { ControlPlane, ControlPlaneClass, ControlPlaneEndpoint } from '../api/index.ts';
import { secretAnnotations, textOf } from '../control-plane/kept-secret.ts';
import { adminOf } from '../testing/admin.ts';
import { granted, refused } from '../testing/granted.ts';
import { startTestPlatform } from '../testing/platform.ts';
import type { TestPlatform } from '../testing/platform.ts';
import { untilReady, untilSecret } from '../testing/until.ts';

const nonsense = 'bm9uc2Vuc2U=';
const key = { namespace: 'kplane-cp-demo', name: 'controlplane-demo-kubeconfig' };

async function ready(platform: TestPlatform, auth?: { model?: string; defaultRole?: string }): Promise<Secret> {
  const { client } = platform;
  await client.create(ControlPlaneClass, { metadata: { name: 'gold' }, spec: auth ? { auth } : {} });
  await client.create(ControlPlane, { metadata: { name: 'demo' }, spec: { classRef: { name: 'gold' } } });
  await untilReady(client, 'demo');
  return client.get(Secret, key);
}

const madeAnew =
  (before: Secret) =>
  (now: Secret | undefined): boolean =>
    now?.data?.['kubeconfig'] !== undefined && now.data['kubeconfig'] !== before.data!['kubeconfig'] && isWhole(now);

const isWhole = ({ metadata, data }: Secret): boolean =>
  metadata.annotations?.[secretAnnotations.content] !== undefined &&
  data?.['kubeconfig-external'] !== undefined &&
  data['kubeconfig'] !== nonsense;

test('it has cluster and context controlplane, user admin, and the two addresses', async () => {
  await using platform = await startTestPlatform({ externalUrl: 'https://hangar.example' });
  platform.start();
  const secret = await ready(platform);
  const text = textOf(secret, 'kubeconfig');
  assert.match(text, /^- name: controlplane$/m);
  assert.match(text, /^- name: admin$/m);
  assert.match(text, /^current-context: controlplane$/m);
  const [inner, outer] = await Promise.all(
    ['kubeconfig', 'kubeconfig-external'].map((one) => configOfKubeconfig(textOf(secret, one))),
  );
  assert.equal(inner!.server, 'https://hangar.internal:6443/clusters/demo/control-plane');
  assert.equal(outer!.server, 'https://hangar.example/clusters/demo/control-plane');
  assert.equal(inner!.ca, platform.serving.ca);
});

for (const [how, patch] of Object.entries<Patch>({
  'has one of its kubeconfigs changed': { type: 'merge', body: { data: { kubeconfig: nonsense } } },
  'loses one of its kubeconfigs': { type: 'merge', body: { data: { 'kubeconfig-external': null } } },
  'loses its annotations': { type: 'json', body: [{ op: 'remove', path: '/metadata/annotations' }] },
  'loses its labels': { type: 'json', body: [{ op: 'remove', path: '/metadata/labels' }] },
  'loses its owner': { type: 'json', body: [{ op: 'remove', path: '/metadata/ownerReferences' }] },
  'is made immutable and loses its owner': {
    type: 'merge',
    body: { immutable: true, metadata: { ownerReferences: null } },
  },
})) {
  test(`a Secret that ${how} is put right`, async () => {
    await using platform = await startTestPlatform();
    platform.start();
    const before = await ready(platform);
    await platform.client.patch(Secret, key, patch);
    const now = await untilSecret(platform.client, key, madeAnew(before));
    const admin = await adminOf(platform, now, 'demo');
    await granted(() => admin.list(ConfigMap, { namespace: 'default' }));
    assert.equal(now.metadata.ownerReferences?.length, 1);
    assert.equal(now.metadata.labels?.['controlplane.kplane.dev/name'], 'demo');
  });
}

test('a Secret that is deleted comes back', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const before = await ready(platform);
  await platform.client.delete(Secret, key);
  const now = await untilSecret(platform.client, key, madeAnew(before));
  const admin = await adminOf(platform, now, 'demo');
  await granted(() => admin.list(ConfigMap, { namespace: 'default' }));
});

test('what a user adds to the Secret stays, and is no reason to write it', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const before = await ready(platform);
  await platform.client.patch(Secret, key, {
    type: 'merge',
    body: { data: { mine: 'bWluZQ==' }, metadata: { labels: { mine: 'yes' } } },
  });
  await platform.quiet();
  const now = await platform.client.get(Secret, key);
  assert.equal(now.data!['kubeconfig'], before.data!['kubeconfig']);
  assert.equal(now.data!['mine'], 'bWluZQ==');
});

test('another authority of the host comes into all kubeconfigs', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const before = await ready(platform);
  platform.serving.ca = testAuthority().certificate;
  // Triggers a pass; without an event it takes minutes.
  await platform.client.patch(
    ControlPlane,
    { name: 'demo' },
    { type: 'merge', body: { metadata: { annotations: { look: 'now' } } } },
  );
  const now = await untilSecret(platform.client, key, madeAnew(before));
  assert.equal((await configOfKubeconfig(textOf(now, 'kubeconfig'))).ca, platform.serving.ca);
});

test('an endpoint that moves takes the kubeconfigs with it', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await client.create(ControlPlaneEndpoint, { metadata: { name: 'front' }, spec: { endpoint: 'https://a.example' } });
  await client.create(ControlPlane, { metadata: { name: 'demo' }, spec: { endpointRef: { name: 'front' } } });
  await untilReady(client, 'demo');
  const before = await client.get(Secret, key);
  await client.patch(
    ControlPlaneEndpoint,
    { name: 'front' },
    { type: 'merge', body: { spec: { endpoint: 'https://b.example' } } },
  );
  const now = await untilSecret(client, key, madeAnew(before));
  assert.equal(
    (await configOfKubeconfig(textOf(now, 'kubeconfig'))).server,
    'https://b.example/clusters/demo/control-plane',
  );
});

test('another model of authentication ends what the one before gave', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  let before = await ready(platform, { model: 'token' });
  for (const model of ['certificate', 'basic', 'certificate']) {
    const old = await adminOf(platform, before, 'demo');
    await granted(() => old.list(Secret, { namespace: 'default' }));
    await platform.client.patch(
      ControlPlaneClass,
      { name: 'gold' },
      { type: 'merge', body: { spec: { auth: { model } } } },
    );
    before = await untilSecret(platform.client, key, madeAnew(before));
    await refused(() => old.list(Secret, { namespace: 'default' }));
    const admin = await adminOf(platform, before, 'demo');
    await granted(() => admin.list(Secret, { namespace: 'default' }));
  }
});

test('a lesser role counts at once, also for kubeconfigs that were handed out before', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const before = await ready(platform);
  const old = await adminOf(platform, before, 'demo');
  await granted(() => old.create(ConfigMap, { metadata: { namespace: 'default', name: 'mine' } }));
  await platform.client.patch(
    ControlPlaneClass,
    { name: 'gold' },
    { type: 'merge', body: { spec: { auth: { defaultRole: 'view' } } } },
  );
  const now = await untilSecret(platform.client, key, madeAnew(before));
  for (const admin of [old, await adminOf(platform, now, 'demo')]) {
    await refused(() => admin.create(ConfigMap, { metadata: { namespace: 'default', generateName: 'more-' } }));
    await granted(() => admin.list(ConfigMap, { namespace: 'default' }));
  }
});
