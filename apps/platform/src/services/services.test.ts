import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { configOfKubeconfig, connect, find } from '@hangar/client';
import { ConfigMap, Namespace, ServiceAccount } from '@hangar/client/kinds/core-v1';
import { ControlPlane } from '@hangar/controlplane-operator';
import type { Inside } from '../compose/inside.ts';
import { startServices } from './services.ts';
import { startTestServer } from './testing/server.ts';

const patienceMs = 30_000;

async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  const deadlineMs = performance.now() + patienceMs;
  while (!(await isSo())) {
    assert.ok(performance.now() < deadlineMs, 'it did not come to that');
    await sleep(10);
  }
}

test('demo is made once, its kubeconfig works, and deleting it is final', async () => {
  await using server = await startTestServer();
  const { inside, log, clients, folder } = server;
  const demoFile = join(folder, 'demo.kubeconfig');
  const first = startServices({ inside, log, electsLeader: false, demoFile });
  assert.equal(await first.hasDemo, true);
  assert.equal(statSync(demoFile).mode & 0o777, 0o600);
  const client = connect(await configOfKubeconfig(readFileSync(demoFile, 'utf8'), { source: demoFile }));
  await client.create(ConfigMap, { metadata: { name: 'a', namespace: 'default' } });
  // Controllers work in it.
  await client.create(Namespace, { metadata: { name: 'new' } });
  await until(async () => (await find(client, ServiceAccount, { namespace: 'new', name: 'default' })) !== undefined);
  await client.close();

  await clients.root.delete(ControlPlane, { name: 'demo' });
  await until(() => !existsSync(demoFile));
  await until(async () => (await find(clients.root, ControlPlane, { name: 'demo' })) === undefined);
  await first.stop();

  // In the same process, as after a failure: what was pending is done.
  const second = startServices({ inside, log, electsLeader: false, demoFile });
  assert.equal(await second.hasDemo, false);
  assert.equal(await find(clients.root, ControlPlane, { name: 'demo' }), undefined);
  await second.stop();
  assert.deepEqual(
    server.lines.filter((line) => / (WARN|ERROR) /.test(line)),
    [],
  );
});

test('a failing operator is begun anew and takes nothing down; health and metrics tell of it', async () => {
  await using server = await startTestServer();
  const { inside, log, clients, folder } = server;
  let isBroken = true;
  const checks: Parameters<Inside['addCheck']>[0][] = [];
  let metrics = (): string => '';
  const faulty: Inside = {
    ...inside,
    handler: (request) =>
      isBroken && request.target.includes('customresourcedefinitions')
        ? Promise.resolve({ status: 418, headers: {}, body: Buffer.from('no') })
        : inside.handler(request),
    addCheck: (check) => void checks.push(check),
    addMetrics: (text) => void (metrics = text),
  };
  const services = startServices({
    inside: faulty,
    log,
    electsLeader: false,
    demoFile: join(folder, 'demo.kubeconfig'),
  });
  await until(() => /hangar_service_restarts_total\{service="operator"\} 1/.test(metrics()));
  const problems = checks.map(({ name, check, isAdvisory }) => [name, isAdvisory, check() !== undefined]);
  assert.deepEqual(problems, [
    ['operator', true, true],
    ['controllers', true, false],
  ]);
  await clients.root.create(Namespace, { metadata: { name: 'still-served' } });
  isBroken = false;
  assert.equal(await services.hasDemo, true);
  await services.stop();
});

test('who is stopped while demo is awaited ends at once', async () => {
  await using server = await startTestServer();
  const { inside, log, folder } = server;
  const stuck: Inside = { ...inside, handler: () => new Promise(() => {}) };
  const services = startServices({
    inside: stuck,
    log,
    electsLeader: false,
    demoFile: join(folder, 'demo.kubeconfig'),
  });
  await sleep(20);
  const begunMs = performance.now();
  await services.stop();
  assert.equal(await services.hasDemo, false);
  assert.ok(performance.now() - begunMs < 5_000);
});

test('with an election the holder of the leases works, and another one takes over when it ends', async () => {
  await using server = await startTestServer('--no-demo');
  const { inside, log, clients } = server;
  const one = startServices({ inside, log, electsLeader: true });
  const madeIn = async (name: string): Promise<void> => {
    await until(async () => {
      try {
        await clients.root.create(ControlPlane, { metadata: { name }, spec: {} });
        return true;
      } catch {
        return false;
      }
    });
    await until(async () => (await clients.root.get(ControlPlane, { name })).status?.phase === 'Ready');
  };
  await madeIn('first');
  const two = startServices({ inside, log, electsLeader: true });
  await one.stop();
  await madeIn('second');
  await two.stop();
});
