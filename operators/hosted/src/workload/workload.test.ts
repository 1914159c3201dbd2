/** The objects inside a control plane: addons and their switches, and control planes that reject objects. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { ValidatingWebhookConfiguration } from '@hangar/client/kinds/admissionregistration-v1';
import { DaemonSet, Deployment } from '@hangar/client/kinds/apps-v1';
import { ConfigMap, Service } from '@hangar/client/kinds/core-v1';
import { ClusterRoleBinding } from '@hangar/client/kinds/rbac-v1';
import { findCondition } from '@hangar/runtime';
import { HostedControlPlane } from '../api/index.ts';
import { plane } from '../render/testing/planes.ts';
import { namespace, startTestPlatform } from '../testing/platform.ts';
import { until, untilReady, untilReason } from '../testing/until.ts';
import { konnectivityUrl } from './konnectivity.ts';
import { proxyConfiguration } from './kube-proxy-configuration.ts';

const key = { namespace, name: 'demo' };
const system = (name: string) => ({ namespace: 'kube-system', name });
const create = (client: Client, spec: Partial<HostedControlPlane['spec']> = {}) =>
  client.create(HostedControlPlane, { metadata: { ...key }, spec: { version: 'v1.36.4', replicas: 1, ...spec } });
const change = (client: Client, spec: object) =>
  client.patch(HostedControlPlane, key, { type: 'merge', body: { spec } });
/** Waits until the status is that of the current spec, and all phases are complete. */
const untilObserved = (client: Client) =>
  until(client, 'demo', ({ metadata, status }) => {
    const isReady = findCondition(status?.conditions, 'Ready')?.status === 'True';
    return isReady && status?.observedGeneration === metadata.generation;
  });

test('kube-proxy and CoreDNS have the images of the version, unless the spec sets others', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client, inside } = platform;
  await create(client, {
    kubeProxy: { args: { 'proxy-mode': 'nftables', v: '4' } },
    coredns: { replicas: 3, image: { registry: 'registry.example' }, priorityClassName: 'dns' },
  });
  await untilReady(client);
  const proxy = await inside.get(DaemonSet, system('kube-proxy'));
  const [container] = proxy.spec!.template.spec!.containers;
  assert.equal(container!.image, 'registry.k8s.io/kube-proxy:v1.36.4');
  assert.ok(container!.command!.includes('--v=4'));
  const { data } = await inside.get(ConfigMap, system('kube-proxy'));
  assert.match(data!['config.conf']!, /^mode: "nftables"$/m);
  assert.match(data!['kubeconfig.conf']!, /server: https:\/\/apiserver-demo\.team\.svc:6443/);
  const coredns = await inside.get(Deployment, system('coredns'));
  assert.equal(coredns.spec!.replicas, 3);
  assert.equal(coredns.spec!.template.spec!.priorityClassName, 'dns');
  assert.equal(coredns.spec!.template.spec!.containers[0]!.image, 'registry.example/coredns/coredns:v1.14.2');
  assert.equal((await inside.get(Service, system('kube-dns'))).spec!.clusterIP, '10.96.0.10');
});

test('kube-proxy that is switched off is deleted, and a DaemonSet of the tenant with the same name is not', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client, inside } = platform;
  await create(client);
  await untilReady(client);
  await inside.get(DaemonSet, system('kube-proxy'));
  await change(client, { kubeProxy: { disabled: true } });
  await untilObserved(client);
  assert.equal(await find(inside, DaemonSet, system('kube-proxy')), undefined);
  const labels = { app: 'own' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'own', image: 'own' }] } };
  await inside.create(DaemonSet, {
    metadata: system('kube-proxy'),
    spec: { selector: { matchLabels: labels }, template },
  });
  await change(client, { coredns: { replicas: 1 } });
  await untilObserved(client);
  assert.equal((await inside.get(Deployment, system('coredns'))).spec!.replicas, 1);
  await inside.get(DaemonSet, system('kube-proxy'));
});

test('a webhook of the tenant that rejects everything is named, and the setup continues when it is deleted', async () => {
  await using platform = await startTestPlatform();
  const { client, inside } = platform;
  await inside.create(ValidatingWebhookConfiguration, {
    metadata: { name: 'wedged' },
    webhooks: [
      {
        name: 'deny.example.com',
        clientConfig: { service: { namespace: 'default', name: 'gone' } },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] }],
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        failurePolicy: 'Fail',
      },
    ],
  });
  platform.start();
  await create(client);
  const { status } = await untilReason(client, 'WorkloadSetupReady', 'WebhookRejected');
  const { message } = findCondition(status!.conditions, 'WorkloadSetupReady')!;
  assert.match(message, /^webhook "deny\.example\.com" rejects ConfigMap "kube-\w+\/[\w-]+": change or delete/);
  // Objects of other kinds are not rejected.
  await inside.get(DaemonSet, system('kube-proxy'));
  await inside.delete(ValidatingWebhookConfiguration, { name: 'wedged' });
  // An event, so that the test does not wait for the next try.
  await change(client, { coredns: { replicas: 1 } });
  await untilReady(client);
  await inside.get(ConfigMap, system('kubeadm-config'));
});

test('konnectivity agents run on each node, or as a Deployment with a number of replicas', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client, inside } = platform;
  await create(client, { konnectivityClient: { args: { v: '4' } } });
  await untilReady(client);
  const daemons = await inside.get(DaemonSet, system('konnectivity-agent'));
  const [container] = daemons.spec!.template.spec!.containers;
  assert.equal(container!.image, 'registry.k8s.io/kas-network-proxy/proxy-agent:v0.36.0');
  for (const argument of ['--proxy-server-host=apiserver-demo.team.svc', '--proxy-server-port=8132', '--v=4']) {
    assert.ok(container!.args!.includes(argument), argument);
  }
  const { roleRef } = await inside.get(ClusterRoleBinding, { name: 'system:konnectivity-server' });
  assert.equal(roleRef.name, 'system:auth-delegator');
  await change(client, { konnectivityClient: { replicas: 2 } });
  await untilObserved(client);
  assert.equal((await inside.get(Deployment, system('konnectivity-agent'))).spec!.replicas, 2);
  assert.equal(await find(inside, DaemonSet, system('konnectivity-agent')), undefined);
});

test('agents connect to the port of the Service, to its node port, or to a host name of the Gateway', () => {
  const service = { spec: { ports: [{ name: 'konnectivity', port: 8132, nodePort: 30_132 }] } } as Service;
  const at = (spec: Parameters<typeof plane>[0], host = '192.0.2.1') =>
    konnectivityUrl(plane({ ...spec, controlPlaneEndpoint: { host, port: 443 } }), service);
  assert.equal(at({ service: { type: 'LoadBalancer' } }), 'https://192.0.2.1:8132');
  assert.equal(at({ service: { type: 'NodePort' } }), 'https://192.0.2.1:30132');
  assert.equal(
    at({ gateway: { namespace: 'a', name: 'b' } }, 'demo.example.com'),
    'https://konnectivity.demo.example.com:443',
  );
  const pending = plane({ service: { type: 'NodePort' }, controlPlaneEndpoint: { host: '192.0.2.1', port: 30_443 } });
  assert.equal(konnectivityUrl(pending, undefined), undefined);
});

test('arguments of kube-proxy become fields of its configuration', () => {
  const args = {
    'proxy-mode': 'ipvs',
    'conntrack-min': '0',
    'conntrack-max-per-core': '0',
    'masquerade-all': 'true',
    v: '2',
  };
  assert.deepEqual(proxyConfiguration(args), {
    configuration: { mode: 'ipvs', conntrack: { min: 0, maxPerCore: 0 }, iptables: { masqueradeAll: true } },
    args: { v: '2' },
  });
  assert.deepEqual(proxyConfiguration(), { configuration: {}, args: {} });
});
