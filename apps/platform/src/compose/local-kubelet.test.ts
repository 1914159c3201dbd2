import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { defineKind } from '@hangar/client';
import type { ApiObject, Client } from '@hangar/client';
import { Node, Pod, ServiceAccount } from '@hangar/client/kinds/core-v1';
import { hasCode } from '@hangar/core';
import { startTestServer } from '../services/testing/server.ts';

interface TenantObject extends ApiObject {
  readonly spec: { readonly nodes?: { readonly networks: readonly string[] } };
}

const Tenant = defineKind<TenantObject>({
  apiVersion: 'tenancy.hangar.dev/v1alpha1',
  kind: 'Tenant',
  plural: 'tenants',
  isNamespaced: false,
});

/** Counts connections and closes each of them. */
async function canary() {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.on('error', () => undefined).destroy();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    [Symbol.asyncDispose]: async () => void (await new Promise((resolve) => server.close(resolve))),
  };
}

/** Registers a node with this address, binds a pod to it, and reads the log of the pod. Resolves with the error of the request. */
async function logError(client: Client, { name, port }: { name: string; port: number }): Promise<string> {
  await client.create(Node, { metadata: { name } });
  const status = {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
  };
  await client.status.patch(Node, { name }, { type: 'merge', body: { status } });
  // The controllers, which create it in the management plane, do not run.
  await client
    .create(ServiceAccount, { metadata: { namespace: 'default', name: 'default' } })
    .catch((error: unknown) => {
      if (!hasCode(error, 'AlreadyExists')) throw error;
    });
  const key = { namespace: 'default', name };
  await client.create(Pod, {
    metadata: key,
    spec: { nodeName: name, automountServiceAccountToken: false, containers: [{ name: 'main', image: 'x' }] },
  });
  return client
    .subresource('log')
    .get(Pod, key)
    .then(
      () => 'no error',
      (error: Error) => error.message,
    );
}

test('the management plane connects to the kubelet API of this process, and to no other address of this machine', async () => {
  await using server = await startTestServer();
  await using kubelet = await canary();
  await using other = await canary();
  const { root } = server.clients;
  assert.match(await logError(root, { name: 'before', port: kubelet.port }), /connects only to the process runtime/);
  server.inside.localKubelet.allow(() => ({ host: '127.0.0.1', port: kubelet.port }));
  assert.match(await logError(root, { name: 'other', port: other.port }), /connects only to the process runtime/);
  assert.deepEqual([kubelet.connections(), other.connections()], [0, 0]);
  await logError(root, { name: 'local', port: kubelet.port });
  assert.ok(kubelet.connections() > 0);
  server.inside.localKubelet.allow(() => undefined);
  const before = kubelet.connections();
  assert.match(await logError(root, { name: 'after', port: kubelet.port }), /connects only to the process runtime/);
  assert.equal(kubelet.connections(), before);
});

test('a tenant does not reach the kubelet API of this process, also when its networks contain loopback', async () => {
  await using server = await startTestServer();
  await using kubelet = await canary();
  const { clients, inside } = server;
  inside.localKubelet.allow(() => ({ host: '127.0.0.1', port: kubelet.port }));
  for (const [name, spec, refusal] of [
    ['red', {}, /spec\.nodes\.networks is empty/],
    ['blue', { nodes: { networks: ['127.0.0.0/8'] } }, /not allowed by this server's policy/],
  ] as const) {
    await clients.root.create(Tenant, { metadata: { name }, spec });
    assert.match(await logError(clients.of(name), { name: 'bait', port: kubelet.port }), refusal);
    assert.equal(kubelet.connections(), 0);
  }
});
