/** The built-in addons of control planes with nodes. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { find } from '@hangar/client';
import { DaemonSet, Deployment } from '@hangar/client/kinds/apps-v1';
import { ConfigMap, Service, ServiceAccount } from '@hangar/client/kinds/core-v1';
import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority } from '@hangar/pki';
import { findCondition } from '@hangar/runtime';
import { ControlPlane, ControlPlaneClass } from '../api/index.ts';
import { Tenant } from '../host/index.ts';
import { startTestPlatform } from '../testing/platform.ts';
import type { TestPlatform } from '../testing/platform.ts';
import { until } from '../testing/until.ts';

const condition = (platform: TestPlatform, reason: string, text = '') =>
  until(platform.client, ControlPlane, 'demo', (one) => {
    const applied = findCondition(one?.status?.conditions, 'AddonsApplied');
    return applied?.reason === reason && (applied.message ?? '').includes(text);
  });

const system = (name: string) => ({ namespace: 'kube-system', name });

test('konnectivity-agent runs on each node and connects to the port with a token for the tunnel only', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  const spec = { addons: ['konnectivity-agent'], nodes: { enabled: true } };
  await client.create(ControlPlaneClass, { metadata: { name: 'nodes' }, spec });
  await client.create(ControlPlane, { metadata: { name: 'demo' }, spec: { classRef: { name: 'nodes' } } });
  await until(client, Tenant, 'demo', (one) => one?.spec?.nodes?.enabled === true);
  const { certificate } = createAuthority('tenant', 1, { clock: systemClock, random: systemRandom });
  const caBundle = Buffer.from(certificate).toString('base64');
  const nodes = { port: 7500, endpoint: 'https://[fd00::1]:7500', caBundle, serviceCIDR: '10.0.0.0/24' };
  await client.status.patch(Tenant, { name: 'demo' }, { type: 'merge', body: { status: { nodes } } });
  await condition(platform, 'InvalidSettings', 'requires an image: set spec.images.konnectivityAgent');
  const images = { konnectivityAgent: 'example.test/agent:1' };
  await client.patch(ControlPlaneClass, { name: 'nodes' }, { type: 'merge', body: { spec: { images } } });
  await condition(platform, 'Applied', 'konnectivity-agent');
  const inside = platform.inside('demo');
  await inside.get(ServiceAccount, system('konnectivity-agent'));
  const { spec: daemons } = await inside.get(DaemonSet, system('konnectivity-agent'));
  const { containers, volumes, serviceAccountName } = daemons!.template.spec!;
  assert.equal(serviceAccountName, 'konnectivity-agent');
  assert.equal(containers[0]!.image, 'example.test/agent:1');
  assert.ok(containers[0]!.args!.includes('--proxy-server-host=fd00::1'));
  assert.ok(containers[0]!.args!.includes('--proxy-server-port=7500'));
  const token = volumes!.flatMap(({ projected }) => projected?.sources ?? [])[0]!.serviceAccountToken;
  assert.equal(token?.audience, 'system:konnectivity-server');
});

test('coredns and kube-proxy are applied when nodes are enabled and their images are set', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await client.create(ControlPlaneClass, { metadata: { name: 'nodes' }, spec: { addons: ['coredns', 'kube-proxy'] } });
  await client.create(ControlPlane, { metadata: { name: 'demo' }, spec: { classRef: { name: 'nodes' } } });
  await condition(platform, 'InvalidSettings', 'addon "coredns" requires nodes: set spec.virtual.nodes.enabled');
  const change = (spec: object) =>
    client.patch(ControlPlaneClass, { name: 'nodes' }, { type: 'merge', body: { spec } });
  await change({ nodes: { enabled: true } });
  await until(client, Tenant, 'demo', (one) => one?.spec?.nodes?.enabled === true);
  const { certificate } = createAuthority('tenant', 1, { clock: systemClock, random: systemRandom });
  const caBundle = Buffer.from(certificate).toString('base64');
  const nodes = { port: 7500, endpoint: 'https://10.1.2.3:7500', caBundle, serviceCIDR: '10.0.0.0/24' };
  await client.status.patch(Tenant, { name: 'demo' }, { type: 'merge', body: { status: { nodes } } });
  await condition(platform, 'InvalidSettings', 'addon "coredns" requires an image: set spec.images.coredns');
  await change({ images: { coredns: 'example.test/coredns:1' } });
  await condition(platform, 'InvalidSettings', 'addon "kube-proxy" requires an image: set spec.images.kubeProxy');
  await change({ images: { kubeProxy: 'example.test/kube-proxy:1' } });
  await condition(platform, 'Applied', 'coredns, kube-proxy');
  const inside = platform.inside('demo');
  const { spec: service } = await inside.get(Service, system('kube-dns'));
  assert.equal(service?.clusterIP, '10.0.0.10');
  assert.deepEqual(
    service?.ports?.map(({ port, protocol }) => `${port}/${protocol}`),
    ['53/UDP', '53/TCP', '9153/TCP'],
  );
  const { spec: deployment } = await inside.get(Deployment, system('coredns'));
  assert.equal(deployment?.template.spec?.containers[0]?.image, 'example.test/coredns:1');
  assert.deepEqual(deployment?.selector.matchLabels, service?.selector);
  const { spec: daemons } = await inside.get(DaemonSet, system('kube-proxy'));
  assert.equal(daemons?.template.spec?.containers[0]?.image, 'example.test/kube-proxy:1');
  assert.ok(daemons?.template.spec?.hostNetwork);
  const { data } = await inside.get(ConfigMap, system('kube-proxy'));
  assert.match(data!['kubeconfig.conf']!, /^ {4}server: https:\/\/10\.1\.2\.3:7500$/m);
  assert.match(data!['config.conf']!, /^mode: ""\nconntrack: \{\}$/m);
  await change({ kubeProxy: { mode: 'nftables', conntrack: { maxPerCore: 0, min: 0 } } });
  await until(
    inside,
    ConfigMap,
    'kube-proxy',
    (one) => /^mode: "nftables"\nconntrack: \{"maxPerCore":0,"min":0\}$/m.test(one?.data?.['config.conf'] ?? ''),
    'kube-system',
  );
  for (const name of ['coredns', 'kube-proxy']) await inside.get(ServiceAccount, system(name));
  await change({ addons: ['kube-proxy'] });
  await condition(platform, 'Applied', 'kube-proxy');
  await until(inside, Deployment, 'coredns', (one) => one === undefined, 'kube-system');
  assert.ok(await find(inside, DaemonSet, system('kube-proxy')));
});
