/** Join credentials of nodes. */

import assert from 'node:assert/strict';
import { createHash, X509Certificate } from 'node:crypto';
import { describe, test } from 'node:test';
import { configOfKubeconfig } from '@hangar/client';
import { ConfigMap, Node, Secret } from '@hangar/client/kinds/core-v1';
import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority } from '@hangar/pki';
import { ControlPlane, ControlPlaneEndpoint } from '../api/index.ts';
import { textOf } from '../control-plane/kept-secret.ts';
import { Tenant } from '../host/index.ts';
import { adminOf } from '../testing/admin.ts';
import { granted } from '../testing/granted.ts';
import { startTestPlatform } from '../testing/platform.ts';
import type { TestPlatform } from '../testing/platform.ts';
import { until, untilReady, untilSecret } from '../testing/until.ts';

const key = { namespace: 'kplane-cp-demo', name: 'controlplane-demo-join' };

async function joinable(platform: TestPlatform, joinEndpoint: string): Promise<Secret> {
  const { client } = platform;
  await client.create(ControlPlaneEndpoint, {
    metadata: { name: 'front' },
    spec: { endpoint: 'https://a.example', joinEndpoint },
  });
  await client.create(ControlPlane, { metadata: { name: 'demo' }, spec: { endpointRef: { name: 'front' } } });
  await untilReady(client, 'demo');
  return client.get(Secret, key);
}

test('a Secret has the token, the address, the fingerprint and a line to paste', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const secret = await joinable(platform, 'https://join.example:7443');
  const token = textOf(secret, 'token');
  assert.match(token, /^[a-z0-9]{6}\.[a-z0-9]{16}$/);
  const spki = new X509Certificate(platform.serving.ca).publicKey.export({ type: 'spki', format: 'der' });
  const hash = `sha256:${createHash('sha256').update(spki).digest('hex')}`;
  assert.equal(textOf(secret, 'ca-hash'), hash);
  assert.equal(textOf(secret, 'endpoint'), 'https://join.example:7443');
  assert.equal(
    textOf(secret, 'command'),
    `kubeadm join join.example:7443 --token ${token} --discovery-token-ca-cert-hash ${hash}`,
  );
});

test('an address with a path is given to kubeadm in a file', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const secret = await joinable(platform, 'https://join.example/clusters/demo/control-plane');
  assert.match(
    textOf(secret, 'command'),
    /^kubeadm join --discovery-file discovery\.kubeconfig --tls-bootstrap-token [a-z0-9]{6}\.[a-z0-9]{16}$/,
  );
  const config = await configOfKubeconfig(textOf(secret, 'discovery.kubeconfig'));
  assert.equal(config.server, 'https://join.example/clusters/demo/control-plane');
  const info = await platform.inside('demo').get(ConfigMap, { namespace: 'kube-public', name: 'cluster-info' });
  assert.match(info.data!['kubeconfig']!, /server: https:\/\/join\.example\/clusters\/demo\/control-plane/);
});

test('who comes with the token may do what a joining node must, and no more', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const secret = await joinable(platform, 'https://join.example');
  const node = await adminOf(platform, secret, 'demo', 'discovery.kubeconfig');
  const system = (name: string) => ({ namespace: 'kube-system', name });
  const config = await granted(() => node.get(ConfigMap, system('kubeadm-config')));
  assert.match(config.data!['ClusterConfiguration']!, /^controlPlaneEndpoint: "join\.example:443"$/m);
  assert.match(config.data!['ClusterConfiguration']!, /^kubernetesVersion: v1\.\d+\.\d+$/m);
  assert.match(
    (await granted(() => node.get(ConfigMap, system('kubelet-config')))).data!['kubelet']!,
    /^kind: KubeletConfiguration$/m,
  );
  await assert.rejects(
    granted(() => node.get(Node, { name: 'worker' })),
    { code: 'NotFound' },
  );
  await assert.rejects(node.list(Secret, { namespace: 'kube-system' }), { code: 'Forbidden' });
  await assert.rejects(node.create(ConfigMap, { metadata: { namespace: 'default', name: 'a' } }), {
    code: 'Forbidden',
  });
});

test('a Secret that is deleted comes back with another token, which is inside of the tenant', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const before = await joinable(platform, 'https://join.example');
  await platform.client.delete(Secret, key);
  const now = await untilSecret(
    platform.client,
    key,
    (one) => one !== undefined && one.data!['token'] !== before.data!['token'],
  );
  const id = textOf(now, 'token').split('.')[0];
  await untilSecret(
    platform.inside('demo'),
    { namespace: 'kube-system', name: `bootstrap-token-${id}` },
    (one) => one !== undefined,
  );
});

test('the ConfigMap that everybody reads first follows the address, and keeps what signers wrote', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  await joinable(platform, 'https://join.example');
  const inside = platform.inside('demo');
  const info = { namespace: 'kube-public', name: 'cluster-info' };
  await inside.patch(ConfigMap, info, { type: 'merge', body: { data: { 'jws-kubeconfig-abcdef': 'signed' } } });
  await platform.client.patch(
    ControlPlaneEndpoint,
    { name: 'front' },
    { type: 'merge', body: { spec: { joinEndpoint: 'https://other.example' } } },
  );
  await untilSecret(platform.client, key, (one) => textOf(one, 'endpoint') === 'https://other.example');
  await platform.quiet();
  const { data } = await inside.get(ConfigMap, info);
  assert.match(data!['kubeconfig']!, /server: https:\/\/other\.example/);
  assert.equal(data!['jws-kubeconfig-abcdef'], 'signed');
});

describe('a control plane with a port for nodes', () => {
  const endpoint = 'https://10.1.2.3:7500';

  async function withPort(platform: TestPlatform): Promise<{ secret: Secret; ca: string }> {
    const { client } = platform;
    const ca = createAuthority('tenant', 1, { clock: systemClock, random: systemRandom }).certificate;
    const nodes = { port: 7500, endpoint, caBundle: Buffer.from(ca).toString('base64'), serviceCIDR: '10.96.0.0/12' };
    const spec = { virtual: { nodes: { enabled: true } } };
    await client.create(ControlPlane, { metadata: { name: 'demo' }, spec });
    await untilReady(client, 'demo');
    await client.status.patch(Tenant, { name: 'demo' }, { type: 'merge', body: { status: { nodes } } });
    const isThere = (one: ControlPlane | undefined) => one?.status?.endpoints?.some(({ url }) => url === endpoint);
    await until(client, ControlPlane, 'demo', (one) => isThere(one) ?? false);
    return { secret: await client.get(Secret, key), ca };
  }

  test('gives nodes a plain kubeadm join command with the CA of the control plane', async () => {
    await using platform = await startTestPlatform();
    platform.start();
    const { secret, ca } = await withPort(platform);
    assert.equal(textOf(secret, 'endpoint'), endpoint);
    assert.equal(textOf(secret, 'ca.crt'), ca);
    const spki = new X509Certificate(ca).publicKey.export({ type: 'spki', format: 'der' });
    const hash = `sha256:${createHash('sha256').update(spki).digest('hex')}`;
    assert.equal(
      textOf(secret, 'command'),
      `kubeadm join 10.1.2.3:7500 --token ${textOf(secret, 'token')} --discovery-token-ca-cert-hash ${hash}`,
    );
    const { data } = await platform.client.get(Secret, { ...key, name: 'controlplane-demo-kubeconfig' });
    const kubeconfig = Buffer.from(data!['kubeconfig']!, 'base64').toString();
    const [, bundle] = /certificate-authority-data: (\S+)/.exec(kubeconfig)!;
    assert.equal(Buffer.from(bundle!, 'base64').toString(), `${ca}${platform.serving.ca}`);
  });

  test('has the objects of kubeadm with the address of the port', async () => {
    await using platform = await startTestPlatform();
    platform.start();
    const { ca } = await withPort(platform);
    const inside = platform.inside('demo');
    const system = async (name: string) => (await inside.get(ConfigMap, { namespace: 'kube-system', name })).data!;
    const { ClusterConfiguration = '' } = await system('kubeadm-config');
    assert.match(ClusterConfiguration, /^controlPlaneEndpoint: "10\.1\.2\.3:7500"$/m);
    assert.match(ClusterConfiguration, /^ {2}serviceSubnet: 10\.96\.0\.0\/12$/m);
    const { kubelet = '' } = await system('kubelet-config');
    assert.match(kubelet, /^serverTLSBootstrap: true$/m);
    assert.match(kubelet, /^clusterDNS:\n- 10\.96\.0\.10$/m);
    const info = await inside.get(ConfigMap, { namespace: 'kube-public', name: 'cluster-info' });
    assert.match(info.data!['kubeconfig']!, /server: https:\/\/10\.1\.2\.3:7500$/m);
    assert.ok(info.data!['kubeconfig']!.includes(Buffer.from(ca).toString('base64')));
  });
});

test('a port that the server cannot open is reported in a condition until it is open', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  await client.create(ControlPlane, { metadata: { name: 'demo' }, spec: { virtual: { nodes: { enabled: true } } } });
  await untilReady(client, 'demo');
  const { certificate } = createAuthority('tenant', 1, { clock: systemClock, random: systemRandom });
  const caBundle = Buffer.from(certificate).toString('base64');
  const nodes = { port: 7500, endpoint: 'https://10.1.2.3:7500', caBundle, serviceCIDR: '10.0.0.0/24' };
  const report = (problem: string | null) =>
    client.status.patch(
      Tenant,
      { name: 'demo' },
      { type: 'merge', body: { status: { nodes: { ...nodes, problem } } } },
    );
  const untilCondition = (isSo: (message: string | undefined) => boolean) =>
    until(client, ControlPlane, 'demo', (one) =>
      isSo(one?.status?.conditions?.find(({ reason }) => reason === 'PortUnavailable')?.message),
    );
  await report('port 7500 is in use');
  await untilCondition((message) => message === 'port 7500 is in use');
  await report(null);
  await untilCondition((message) => message === undefined);
});
