import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Client } from '@hangar/client';
import { Namespace, Secret, Service } from '@hangar/client/kinds/core-v1';
import { DaemonSet } from '@hangar/client/kinds/apps-v1';
import { findCondition } from '@hangar/runtime';
import { X509Certificate } from 'node:crypto';
import { annotations, HostedControlPlane } from '../api/index.ts';
import type { HostedControlPlaneSpec } from '../api/index.ts';
import { textIn } from '../pki/secrets.ts';
import { namespace, startTestPlatform } from '../testing/platform.ts';
import type { TestPlatform } from '../testing/platform.ts';
import { untilReady, untilReason } from '../testing/until.ts';

const settings = { domains: ['hosted.example.com'], port: 6443 };
const phase = 'SyncControlPlaneEndpointReady';

async function withPlatform(
  run: (platform: TestPlatform) => Promise<void>,
  frontDoor: Parameters<typeof startTestPlatform>[0] = { frontDoor: settings },
): Promise<void> {
  await using platform = await startTestPlatform({ serviceType: 'LoadBalancer', ...frontDoor });
  platform.start();
  await run(platform);
}

const create = (client: Client, spec: Partial<HostedControlPlaneSpec> = {}, name = 'demo', of = namespace) =>
  client.create(HostedControlPlane, {
    metadata: { namespace: of, name },
    spec: { version: 'v1.36.4', replicas: 1, ...spec },
  });

describe('a control plane at the front door', () => {
  test('has its host name in the endpoint, the certificates and the status, and a Service without an address', () =>
    withPlatform(async ({ client, inside }) => {
      await create(client, { frontDoor: {}, konnectivityClient: {} });
      const { spec, status } = await untilReady(client);
      const host = 'demo.team.hosted.example.com';
      assert.deepEqual(spec.controlPlaneEndpoint, { host, port: 6443 });
      assert.deepEqual(status?.frontDoor, { host });
      const service = await client.get(Service, { namespace, name: 'apiserver-demo' });
      assert.equal(service.spec?.type, 'ClusterIP');
      const certificateOf = async (name: string) =>
        new X509Certificate(textIn(await client.get(Secret, { namespace, name }), 'tls.crt'));
      assert.equal((await certificateOf('demo-apiserver')).checkHost(host), host);
      assert.ok((await certificateOf('demo-konnectivity-server')).checkHost(`konnectivity.${host}`));
      const kubeconfig = textIn(await client.get(Secret, { namespace, name: 'demo-kubeconfig' }), 'value');
      assert.match(kubeconfig, /server: https:\/\/demo\.team\.hosted\.example\.com:6443\n {4}certificate-authority/);
      const agents = await inside.get(DaemonSet, { namespace: 'kube-system', name: 'konnectivity-agent' });
      const { args } = agents.spec!.template.spec!.containers[0]!;
      assert.ok(args!.includes(`--proxy-server-host=konnectivity.${host}`), args!.join(' '));
      assert.ok(args!.includes('--proxy-server-port=6443'));
    }));

  test('causes no writes once it is stable', () =>
    withPlatform(async (platform) => {
      await create(platform.client, { frontDoor: {} });
      await untilReady(platform.client);
      await platform.quiet();
      platform.forget();
      await platform.client.patch(
        HostedControlPlane,
        { namespace, name: 'demo' },
        { type: 'merge', body: { metadata: { labels: { a: 'b' } } } },
      );
      await platform.quiet();
      assert.deepEqual(platform.writes, []);
    }));

  test('has a kubeconfig with the address of the front door, if names are not in DNS', () =>
    withPlatform(
      async ({ client }) => {
        await create(client, { frontDoor: { host: 'shop.hosted.example.com' } });
        await untilReady(client);
        const kubeconfig = textIn(await client.get(Secret, { namespace, name: 'demo-kubeconfig' }), 'value');
        assert.match(
          kubeconfig,
          /server: https:\/\/127\.0\.0\.1:6443\n {4}tls-server-name: "shop\.hosted\.example\.com"\n/,
        );
      },
      { frontDoor: { ...settings, address: { host: '127.0.0.1', port: 6443 } } },
    ));

  test('can be the default, which applies to new control planes that set nothing', async () => {
    await using platform = await startTestPlatform({
      serviceType: 'ClusterIP',
      frontDoor: { ...settings, exposure: 'front-door' },
    });
    const { client } = platform;
    const given = { controlPlaneEndpoint: { host: 'given.example.com', port: 443 } };
    platform.start();
    await create(client);
    await create(client, { service: {} }, 'service');
    await create(client, given, 'given');
    const { metadata, spec } = await untilReady(client);
    assert.equal(metadata.annotations?.[annotations.exposure], 'front-door');
    assert.equal(spec.controlPlaneEndpoint?.host, 'demo.team.hosted.example.com');
    const service = await untilReady(client, 'service');
    assert.equal(service.spec.controlPlaneEndpoint?.host, 'apiserver-service.team.svc');
    assert.equal(service.metadata.annotations?.[annotations.exposure], undefined);
    assert.equal((await untilReady(client, 'given')).status?.frontDoor, undefined);
  });
});

describe('faults of host names', () => {
  const other = 'other';

  test('without a domain, the front door is missing', () =>
    withPlatform(async ({ client }) => {
      await create(client, { frontDoor: {} });
      const { status } = await untilReason(client, phase, 'FrontDoorMissing');
      assert.match(findCondition(status!.conditions, phase)!.message, /--front-door-domain/);
    }, {}));

  test('a host name of another namespace is not allowed, also as an endpoint', () =>
    withPlatform(async ({ client }) => {
      await create(client, { frontDoor: { host: 'demo.other.hosted.example.com' } });
      const { status } = await untilReason(client, phase, 'HostNotAllowed');
      assert.equal(status!.frontDoor, undefined);
      const controlPlaneEndpoint = { host: 'demo.other.hosted.example.com', port: 6443 };
      await create(client, { frontDoor: {}, controlPlaneEndpoint }, 'second');
      const second = await untilReason(client, phase, 'EndpointConflict', 'second');
      assert.equal(second.status!.frontDoor, undefined);
    }));

  test('a host name belongs to the first control plane, until it is deleted', () =>
    withPlatform(async ({ client }) => {
      await client.create(Namespace, { metadata: { name: other } });
      const frontDoor = { host: 'shop.hosted.example.com' };
      // Paused, so that it has no status: only the time of its creation counts.
      const paused = { 'cluster.x-k8s.io/paused': 'true' };
      await client.create(HostedControlPlane, {
        metadata: { namespace: other, name: 'first', annotations: paused },
        spec: { version: 'v1.36.4', frontDoor },
      });
      // Times of creation have seconds.
      const { metadata } = await client.get(HostedControlPlane, { namespace: other, name: 'first' });
      while (Date.now() < Date.parse(metadata.creationTimestamp!) + 1_000) await new Promise(setImmediate);
      await create(client, { frontDoor });
      const { status, spec } = await untilReason(client, phase, 'HostConflict');
      assert.deepEqual([status!.frontDoor, spec.controlPlaneEndpoint], [undefined, undefined]);
      const { message } = findCondition(status!.conditions, phase)!;
      assert.match(message, /shop\.hosted\.example\.com belongs to another control plane, which was created earlier/);
      await client.delete(HostedControlPlane, { namespace: other, name: 'first' });
      const body = { metadata: { labels: { retry: 'now' } } };
      await client.patch(HostedControlPlane, { namespace, name: 'demo' }, { type: 'merge', body });
      assert.deepEqual((await untilReady(client)).status!.frontDoor, frontDoor);
    }));

  test('the host name of konnectivity agents is part of the claim', () =>
    withPlatform(async ({ client }) => {
      const { metadata } = await create(client, { frontDoor: {} });
      while (Date.now() < Date.parse(metadata.creationTimestamp!) + 1_000) await new Promise(setImmediate);
      await create(client, { frontDoor: { host: 'konnectivity.demo.team.hosted.example.com' } }, 'second');
      const { status } = await untilReason(client, phase, 'HostConflict', 'second');
      assert.match(findCondition(status!.conditions, phase)!.message, /belongs to HostedControlPlane "demo"/);
    }));
});
