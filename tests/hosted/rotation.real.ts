/**
 * Certificates of a HostedControlPlane with the real programs: renewed certificates are used without a restart, and authorities are rotated
 * while clients read and write.
 */

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { configOfKubeconfig, connect, find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { TokenReview } from '@hangar/client/kinds/authentication-v1';
import { ConfigMap, Secret } from '@hangar/client/kinds/core-v1';
import { findCondition } from '@hangar/runtime';
import { annotations, HostedControlPlane, rotateAnnotation } from '../../operators/hosted/src/api/index.ts';
import { until } from '../process-runtime/testing/until.ts';
import { key, namespace, ProcessCluster } from './testing/process-cluster.ts';
import { SteadyClient } from './testing/steady-client.ts';

const patch = (client: Client, body: object) => client.patch(HostedControlPlane, key, { type: 'merge', body });

/** Returns the serial number of the certificate that a server sends. */
async function servedSerial(host: string, port: number): Promise<string> {
  const socket = connectTls({ host, port, rejectUnauthorized: false });
  try {
    await once(socket, 'secureConnect');
    return socket.getPeerX509Certificate()!.serialNumber;
  } finally {
    socket.destroy();
  }
}

describe('certificates of a HostedControlPlane', () => {
  let cluster: ProcessCluster;
  before(async () => {
    cluster = await ProcessCluster.start();
    await cluster.client.create(HostedControlPlane, {
      metadata: { ...key },
      spec: { version: 'v1.36.4', replicas: 1, etcd: { replicas: 3 } },
    });
    await cluster.ready();
  });
  after(() => cluster?.[Symbol.asyncDispose]());

  test('renewed certificates are served without a restart', async () => {
    const { client } = cluster;
    const { spec } = await client.get(HostedControlPlane, key);
    const { host, port } = spec.controlPlaneEndpoint!;
    const runs = async () =>
      (await cluster.pods()).map(({ metadata, status }) => [metadata.uid, status?.containerStatuses?.[0]?.containerID]);
    const before = await runs();
    const etcd = (await cluster.pods()).find(({ metadata }) => metadata.name === 'demo-etcd-0')!;
    const served: [secret: string, host: string, port: number][] = [
      ['demo-apiserver', host, port],
      ['demo-etcd-server', etcd.status!.podIP!, 2379],
      ['demo-etcd-peer', etcd.status!.podIP!, 2380],
    ];
    const names = [...served.map(([name]) => name), 'demo-apiserver-etcd-client', 'demo-controller-manager'];
    const old = new Map<string, string>();
    for (const name of names) old.set(name, await cluster.secret(name, 'tls.crt'));
    // A Secret without the digest of its request is not current, as one that is due for renewal.
    const body = { metadata: { annotations: { [annotations.request]: null } } };
    for (const name of names) await client.patch(Secret, { namespace, name }, { type: 'merge', body });
    for (const [name, address, number] of served) {
      await until(`${name} is served`, async () => {
        const text = await cluster.secret(name, 'tls.crt');
        const { serialNumber } = new X509Certificate(text);
        return text !== old.get(name) && (await servedSerial(address, number)) === serialNumber;
      });
    }
    assert.deepEqual(await runs(), before);
  });

  test('authorities and the key of service accounts are rotated while clients read and write', async () => {
    const { client } = cluster;
    const kubeconfig = await cluster.secret('demo-kubeconfig', 'value');
    // This client trusts only the authority from before the rotation, and has a certificate of it.
    await using steady = await SteadyClient.start(kubeconfig);
    await cluster.kubectl('create', 'serviceaccount', 'robot');
    const token = (await cluster.kubectl('create', 'token', 'robot')).trim();
    const names = ['ca', 'proxy', 'sa', 'etcd'] as const;
    const old = await Promise.all(names.map((name) => cluster.secret(`demo-${name}`, 'tls.crt')));
    const operations = await steady.during(async () => {
      const rotate = Object.fromEntries(names.map((name) => [rotateAnnotation(name), 'now']));
      await patch(client, { metadata: { annotations: rotate } });
      await cluster.until('the new authorities are in use', ({ status }) => {
        const isReady = findCondition(status?.conditions, 'Ready')?.status === 'True';
        return isReady && findCondition(status?.conditions, 'CertificatesRotating')?.reason === 'Overlapping';
      });
    });
    assert.ok(operations.length > 0);
    assert.deepEqual(
      operations.flatMap(({ failures }) => failures).filter((message) => /certificate|unauthorized/i.test(message)),
      [],
    );
    console.log(await steady.finish());
    for (const [at, name] of names.entries()) assert.notEqual(await cluster.secret(`demo-${name}`, 'tls.crt'), old[at]);
    await using inside = await administrator();
    const { status } = await inside.client.create(TokenReview, { metadata: {}, spec: { token } });
    assert.equal(status?.user?.username, 'system:serviceaccount:default:robot', 'a token of the previous key is valid');
  });

  test('the previous authority is dropped when its Secret is deleted', async () => {
    const now = await cluster.secret('demo-ca', 'tls.crt');
    await cluster.client.delete(Secret, { namespace, name: 'demo-ca-previous' });
    // kube-controller-manager, which starts again, publishes the authority for pods, and the operator for nodes.
    await until('only the new authority is published', async () => {
      await using inside = await administrator();
      const read = (at: string, name: string) => find(inside.client, ConfigMap, { namespace: at, name });
      const [pods, nodes] = [await read('default', 'kube-root-ca.crt'), await read('kube-public', 'cluster-info')];
      const [, data = ''] = /certificate-authority-data"?: "?([\w+/=]+)/.exec(nodes?.data?.['kubeconfig'] ?? '') ?? [];
      return pods?.data?.['ca.crt'] === now && Buffer.from(data, 'base64').toString() === now;
    });
  });

  /** Opens a client with the current kubeconfig. */
  async function administrator(): Promise<AsyncDisposable & { readonly client: Client }> {
    const client = connect(await configOfKubeconfig(await cluster.secret('demo-kubeconfig', 'value')));
    return { client, [Symbol.asyncDispose]: () => client.close() };
  }
});
