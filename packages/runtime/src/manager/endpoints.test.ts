/** With sockets: the addresses of a manager, and webhooks beside it. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import { test } from 'node:test';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { Logger, systemClock } from '@hangar/core';
import { startTestCluster, testAuthority } from '@hangar/testkit';
import { newCluster } from '../new-cluster.ts';
import { WebhookServer } from '../webhooks/webhook-server.ts';
import { Manager } from './manager.ts';

const log = new Logger({ level: 'silent', format: 'text', clock: systemClock });
const statusOf = async (port: number, path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status;

test('metrics and probes on one address by default, on two when they are told so', { timeout: 60_000 }, async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  const one = new Manager({ client, log, metrics: { port: 0 } });
  // Different names of the same machine are different addresses.
  const two = new Manager({ client, log, metrics: { port: 0 }, health: { port: 0, host: 'localhost' } });
  const onlyHealth = new Manager({ client, log, metrics: false, health: { port: 0 } });
  const stop = new AbortController();
  const running = [one, two, onlyHealth].map((manager) => manager.run(stop.signal));
  await Promise.all([one.elected, two.elected, onlyHealth.elected]);
  assert.equal(one.ports.length, 1);
  assert.equal(await statusOf(one.ports[0]!, '/metrics'), 200);
  assert.equal(await statusOf(one.ports[0]!, '/readyz'), 200);
  assert.equal(two.ports.length, 2);
  assert.equal(await statusOf(two.ports[0]!, '/metrics'), 200);
  assert.equal(await statusOf(two.ports[0]!, '/readyz'), 404);
  assert.equal(await statusOf(onlyHealth.ports[0]!, '/metrics'), 404);
  assert.equal(await statusOf(onlyHealth.ports[0]!, '/healthz'), 200);
  stop.abort();
  await Promise.all(running);
});

test('a client that says nothing does not delay the end', { timeout: 60_000 }, async () => {
  await using cluster = await startTestCluster();
  const manager = new Manager({ client: cluster.client, log, metrics: { port: 0 } });
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  await manager.elected;
  const socket = connectSocket(manager.ports[0]!, '127.0.0.1');
  await once(socket, 'connect');
  socket.write('GET /metrics HTTP/1.1\r\n');
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  stop.abort();
  await running;
  await closed;
});

test('webhooks listen before caches are filled, and are ready with them', { timeout: 60_000 }, async () => {
  await using testCluster = await startTestCluster();
  const webhooks = new WebhookServer({ port: 0, host: '127.0.0.1', certificates: testAuthority().serving() });
  const inner = newCluster({ name: '', client: testCluster.client });
  const ports: number[] = [];
  const cluster = {
    ...inner,
    start: (signal: AbortSignal) => {
      ports.push(webhooks.port);
      return inner.start(signal);
    },
  };
  const manager = new Manager({ cluster, webhooks, log, metrics: false, health: false });
  manager.controller({ name: 'maps', for: ConfigMap, reconcile: () => {} });
  assert.equal((await manager.answer('/readyz/webhooks')).status, 500);
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  await manager.elected;
  assert.equal(ports.length, 1);
  assert.ok(ports[0]! > 0);
  assert.equal((await manager.answer('/readyz/webhooks')).status, 200);
  stop.abort();
  await running;
  assert.equal(webhooks.port, 0);
});

test('webhooks that cannot listen end the manager with that error', { timeout: 60_000 }, async () => {
  await using cluster = await startTestCluster();
  const webhooks = new WebhookServer({ port: 0 });
  const manager = new Manager({ client: cluster.client, webhooks, log, metrics: false, health: false });
  await assert.rejects(manager.run(new AbortController().signal), { code: 'InvalidOptions' });
});
