import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { connect } from 'node:tls';
import { RestClient } from '@hangar/client';
import type { Client } from '@hangar/client';
import { Namespace, Pod } from '@hangar/client/kinds/core-v1';
import { ClusterRole, ClusterRoleBinding } from '@hangar/client/kinds/rbac-v1';
import { Logger, systemClock } from '@hangar/core';
import { installCrd, Rights, startTestCluster } from '@hangar/testkit';
import { definitions } from '../api/generated/index.ts';
import { HostedControlPlane } from '../api/index.ts';
import { frontDoorRules } from '../rbac.ts';
import { namespace } from '../testing/platform.ts';
import { frontDoorManager } from './manager.ts';

const user = 'front-door';
const group = 'rbac.authorization.k8s.io';

/** Creates a pod of an API server with the status of a kubelet. */
async function apiServerPod(client: Client, name: string, address: string, ports: Record<string, number>) {
  const labels = { 'cluster.x-k8s.io/cluster-name': 'demo', 'app.kubernetes.io/component': 'kube-apiserver' };
  const all = Object.entries(ports).map(([port, containerPort]) => ({ name: port, containerPort }));
  const containers = [{ name: 'kube-apiserver', image: 'example.com/a:1', ports: all }];
  await client.create(Pod, { metadata: { namespace, name, labels }, spec: { containers } });
  await setReady(client, name, address, true);
}

const setReady = (client: Client, name: string, podIP: string, isReady: boolean) => {
  const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }];
  const body = { status: { podIP, podIPs: [{ ip: podIP }], conditions } };
  return client.status.patch(Pod, { namespace, name }, { type: 'merge', body });
};

/** A server that counts its connections. */
async function backend(opened: AsyncDisposableStack): Promise<{ port: number; connections: number }> {
  const counted = { port: 0, connections: 0 };
  const server = createServer((socket) => {
    counted.connections += 1;
    socket.on('error', () => undefined).once('data', () => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.defer(() => void server.close());
  counted.port = (server.address() as AddressInfo).port;
  return counted;
}

test('the front door routes to ready pods of the control plane that has the host name, with read-only permissions', async () => {
  await using opened = new AsyncDisposableStack();
  const management = opened.use(await startTestCluster({ authorization: 'rbac' }));
  const { client } = management;
  for (const definition of definitions) await installCrd(client, definition);
  await client.create(Namespace, { metadata: { name: namespace } });
  await client.create(ClusterRole, { metadata: { name: user }, rules: [...frontDoorRules] });
  const roleRef = { apiGroup: group, kind: 'ClusterRole', name: user };
  const subjects = [{ kind: 'User', apiGroup: group, name: user }];
  await client.create(ClusterRoleBinding, { metadata: { name: user }, roleRef, subjects });
  const rights = new Rights();
  const listening = Promise.withResolvers<number>();
  const manager = frontDoorManager({
    management: new RestClient(rights.watched(management.transportOf({ name: user }))),
    host: '127.0.0.1',
    port: 0,
    domains: ['hosted.example.com'],
    drainMs: 0,
    log: new Logger({ level: 'silent', format: 'text', clock: systemClock }),
    onListening: (door) => listening.resolve(door.port),
  });
  const ending = new AbortController();
  const running = manager.run(ending.signal);
  running.catch(listening.reject);
  opened.defer(async () => {
    ending.abort();
    await running;
  });
  const port = await listening.promise;
  assert.equal((await manager.answer('/readyz')).status, 200);

  /** Resolves with the code of the error, which every connection ends with. */
  const attempt = async (servername: string): Promise<string | undefined> => {
    const socket = connect({ host: '127.0.0.1', port, servername, rejectUnauthorized: false });
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
    return error.code;
  };
  const unknown = 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME';
  const until = async (servername: string, holds: (code: string | undefined) => boolean): Promise<void> => {
    while (!holds(await attempt(servername)));
  };
  const host = 'demo.team.hosted.example.com';
  const planes = [
    ['demo', host],
    ['outside', 'outside.example.org'],
  ] as const;
  for (const [name, one] of planes) {
    await client.create(HostedControlPlane, {
      metadata: { namespace, name },
      spec: { version: 'v1.36.4', frontDoor: {} },
    });
    assert.equal(await attempt(one), unknown);
    const body = { status: { frontDoor: { host: one } } };
    await client.status.patch(HostedControlPlane, { namespace, name }, { type: 'merge', body });
  }
  // No pod: the connection is reset.
  await until(host, (code) => code === 'ECONNRESET');
  assert.equal(await attempt('outside.example.org'), unknown);
  const [api, agents] = [await backend(opened), await backend(opened)];
  await apiServerPod(client, 'demo-1', '127.0.0.1', { api: api.port, konnectivity: agents.port });
  await until(host, () => api.connections > 0);
  await until(`konnectivity.${host}`, () => agents.connections > 0);
  const before = api.connections;
  await setReady(client, 'demo-1', '127.0.0.1', false);
  await until(host, () => api.connections === before || api.connections > before + 50);
  await until(host, (code) => code === 'ECONNRESET');
  assert.match(
    manager.registry.text(),
    /hangar_front_door_connections_total\{route="team\/demo",result="ended"\} [1-9]/,
  );
  await client.status.patch(
    HostedControlPlane,
    { namespace, name: 'demo' },
    { type: 'merge', body: { status: { frontDoor: null } } },
  );
  await until(host, (code) => code === unknown);
  assert.deepEqual([rights.refused, rights.unused(frontDoorRules)], [[], []]);
});
