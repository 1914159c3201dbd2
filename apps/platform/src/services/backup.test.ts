import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ControlPlaneBackup, ControlPlaneRestore } from '@hangar/backup-operator';
import { find } from '@hangar/client';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { ControlPlane } from '@hangar/controlplane-operator';
import { startServices } from './services.ts';
import { startTestServer } from './testing/server.ts';

const namespace = 'hangar-system';
const patienceMs = 30_000;

async function until<T>(read: () => Promise<T | undefined>): Promise<T> {
  const deadlineMs = performance.now() + patienceMs;
  for (;;) {
    const found = await read().catch(() => undefined);
    if (found !== undefined) return found;
    assert.ok(performance.now() < deadlineMs, 'it did not happen in time');
    await sleep(20);
  }
}

test('a virtual control plane is backed up in a folder, and restored as a new one and in place', async () => {
  await using server = await startTestServer('--no-demo');
  const { inside, log, clients, folder } = server;
  const backup = { folder: join(folder, 'backups'), createsFolder: true, namespace, concurrency: 4 };
  const services = startServices({ inside, log, electsLeader: false, backup });
  try {
    const { root } = clients;
    await until(() => root.create(ControlPlane, { metadata: { name: 'demo' }, spec: {} }));
    const isReady = async (name: string) =>
      (await root.get(ControlPlane, { name })).status?.phase === 'Ready' ? true : undefined;
    await until(() => isReady('demo'));
    const inDemo = clients.of('demo');
    const key = { name: 'settings', namespace: 'default' };
    await until(() => inDemo.create(ConfigMap, { metadata: { ...key }, data: { mode: 'old' } }));
    const made = { controlPlaneRef: { name: 'demo' }, destination: { folder: { name: 'daily' } } };
    await until(() => root.create(ControlPlaneBackup, { metadata: { name: 'first', namespace }, spec: made }));
    const stored = await until(async () => {
      const one = await root.get(ControlPlaneBackup, { name: 'first', namespace });
      return one.status?.phase === 'Complete' || one.status?.phase === 'Failed' ? one : undefined;
    });
    assert.equal(stored.status?.phase, 'Complete', JSON.stringify(stored.status));
    await inDemo.patch(ConfigMap, key, { type: 'merge', body: { data: { mode: 'new' } } });
    const modes = [
      ['copy', { controlPlaneRef: { name: 'copy' } }],
      ['demo', { controlPlaneRef: { name: 'demo' }, mode: 'InPlace', confirmation: 'demo' }],
    ] as const;
    for (const [name, spec] of modes) {
      const source = { backupName: 'first' };
      await root.create(ControlPlaneRestore, { metadata: { name, namespace }, spec: { source, ...spec } });
      const restored = await until(async () => {
        const one = await root.get(ControlPlaneRestore, { name, namespace });
        return one.status?.phase === 'Complete' || one.status?.phase === 'Failed' ? one : undefined;
      });
      assert.equal(restored.status?.phase, 'Complete', JSON.stringify(restored.status));
      assert.equal(restored.status?.contentDigest, stored.status?.contentDigest);
      await until(() => isReady(name));
      assert.deepEqual((await until(() => find(clients.of(name), ConfigMap, key))).data, { mode: 'old' });
    }
  } finally {
    await services.stop();
  }
});
