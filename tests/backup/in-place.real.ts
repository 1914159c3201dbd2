/**
 * A virtual control plane is restored in place while informers of client-go follow it: they end with the objects of the server. On both
 * drivers, also when the server is killed in the middle.
 */

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { startEtcd } from '../../packages/store/src/drivers/etcd/testing/etcd-process.ts';
import { startHangar } from '../conformance/servers/index.ts';
import type { RestartableControlPlane } from '../conformance/servers/index.ts';
import { Access } from '../tenancy/testing/access.ts';
import type { Data } from '../tenancy/testing/access.ts';
import { startInformers } from './informers/informers.ts';

const tenants = '/apis/tenancy.hangar.dev/v1alpha1/tenants';
const restore = `${tenants}/demo/restore?replace=true`;
/** `HANGAR_RESTORED_OBJECTS=10000` for the figure of the documentation. */
const objectsMax = Number(process.env['HANGAR_RESTORED_OBJECTS'] ?? 2_000);
/** Kinds that the informers follow. */
const informedKinds = 6;
const timeoutMs = 20 * 60_000;

/** Returns the arguments of a server with the driver. */
const drivers: Readonly<Record<string, (started: AsyncDisposableStack) => Promise<readonly string[]>>> = {
  embedded: () => Promise.resolve([]),
  etcd: async (started) => {
    const etcd = await startEtcd({ unsafeNoFsync: true });
    started.defer(() => etcd.stop());
    return ['--store=etcd', `--etcd-endpoints=${etcd.endpoints[0]!}`];
  },
};

interface World extends AsyncDisposable {
  readonly server: RestartableControlPlane;
  readonly root: Access;
  readonly admin: Access;
  /** Of the administrator of the tenant. */
  readonly kubeconfig: string;
}

async function startWorld(driver: string): Promise<World> {
  await using started = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'hangar-in-place-'));
  started.defer(() => rm(folder, { recursive: true, force: true }));
  const server = await startHangar(await drivers[driver]!(started));
  started.defer(() => server.stop());
  const root = started.use(await Access.of(server.kubeconfig));
  await root.create(tenants, { kind: 'Tenant', apiVersion: 'tenancy.hangar.dev/v1alpha1', metadata: { name: 'demo' } });
  const { status } = await root.create(`${tenants}/demo/kubeconfig`, {});
  const kubeconfig = join(folder, 'demo.kubeconfig');
  await writeFile(kubeconfig, status.kubeconfig);
  const admin = started.use(Access.from(status.kubeconfig));
  const moved = started.move();
  return { server, root, admin, kubeconfig, [Symbol.asyncDispose]: () => moved.disposeAsync() };
}

const configMaps = '/api/v1/namespaces/default/configmaps';
const secrets = '/api/v1/namespaces/default/secrets';

const configMap = (name: string, text: string): object => ({ metadata: { name }, data: { text } });

/** Runs `count` calls, eight at a time. */
async function several(count: number, call: (at: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const workers = Array.from({ length: 8 }, async () => {
    while (next < count) await call(next++);
  });
  await Promise.all(workers);
}

/** Fills the plane and returns its backup; then changes about half of it. */
async function changedPlane({ root, admin }: World, objects: number): Promise<Buffer> {
  await several(objects, (at) => admin.create(configMaps, configMap(`a-${at}`, 'x'.repeat(500))));
  await admin.create(secrets, { metadata: { name: 's' }, stringData: { password: 'old' } });
  await admin.create('/api/v1/namespaces', { metadata: { name: 'shop' } });
  await admin.remove('/apis/rbac.authorization.k8s.io/v1/clusterroles/system:discovery');
  const { bytes: backup } = await root.ask('POST', `${tenants}/demo/backup`, { body: {} });
  await several(Math.floor(objects / 4), (at) => admin.remove(`${configMaps}/a-${at}`));
  await several(Math.floor(objects / 4), (at) => admin.create(configMaps, configMap(`b-${at}`, 'y'.repeat(500))));
  await admin.merge(`${secrets}/s`, { stringData: { password: 'new' } });
  await admin.remove('/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node');
  return backup;
}

const nameOf = ({ metadata }: Data): string => metadata.name;

async function insistOnRestored({ admin }: World, objects: number): Promise<void> {
  const { items } = await admin.get(configMaps);
  const wanted = Array.from({ length: objects }, (_, at) => `a-${at}`).sort();
  assert.deepEqual(
    items
      .map(nameOf)
      .filter((name: string) => /^[ab]-/.test(name))
      .sort(),
    wanted,
  );
  const secret = await admin.get(`${secrets}/s`);
  assert.equal(Buffer.from(secret.data.password, 'base64').toString(), 'old');
  const { items: roles } = await admin.get('/apis/rbac.authorization.k8s.io/v1/clusterroles');
  const names = new Set(roles.map(nameOf));
  assert.ok(names.has('system:node') && !names.has('system:discovery'));
}

const upload = { contentType: 'application/octet-stream' };

/** Requests one object repeatedly; returns the longest time without a response of 200. */
async function longestRefusal(
  admin: Access,
  isOver: () => boolean,
): Promise<{ refusedMs: number; statuses: Set<number> }> {
  const statuses = new Set<number>();
  let [lastMs, refusedMs] = [performance.now(), 0];
  while (!isOver()) {
    const { status } = await admin.ask('GET', `${secrets}/s`);
    statuses.add(status);
    if (status !== 200) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      continue;
    }
    refusedMs = Math.max(refusedMs, performance.now() - lastMs);
    lastMs = performance.now();
  }
  return { refusedMs, statuses };
}

for (const driver of Object.keys(drivers)) {
  describe(`a restore in place on the ${driver} store`, () => {
    for (const watchList of [true, false]) {
      test(
        `informers ${watchList ? 'with a stream of initial events' : 'that list first'} end with the cache of the server`,
        { timeout: timeoutMs },
        async (context) => {
          await using world = await startWorld(driver);
          const objects = watchList ? objectsMax : 200;
          const backup = await changedPlane(world, objects);
          await using informers = await startInformers(world.kubeconfig, { watchList });
          const before = await informers.compare();
          assert.equal(before.relists, 0);
          let isOver = false;
          const refusal = longestRefusal(world.admin, () => isOver);
          const { status, data } = await world.root.ask('POST', restore, { body: backup, ...upload });
          isOver = true;
          assert.equal(status, 200, JSON.stringify(data));
          const { refusedMs, statuses } = await refusal;
          for (const one of statuses) assert.ok(one === 200 || one === 503, String(one));
          await insistOnRestored(world, objects);
          let after = await informers.compare();
          // Informers of kinds without a change have equal caches before they list again.
          while (after.relists < informedKinds) after = await informers.compare();
          context.diagnostic(`${objects} objects: longest time without an answer ${Math.round(refusedMs)} ms`);
          // They follow later changes.
          await world.admin.create(configMaps, configMap('later', ''));
          assert.equal((await informers.compare()).objects, after.objects + 1);
        },
      );
    }

    test('a server that is killed in the middle has the old data or the new data', { timeout: timeoutMs }, async () => {
      await using world = await startWorld(driver);
      const objects = 1_000;
      const backup = await changedPlane(world, objects);
      await using informers = await startInformers(world.kubeconfig);
      const outcomes = new Set<string>();
      for (const delayMs of [20, 60, 120, 200, 300, 450]) {
        const names = async (): Promise<string[]> => (await world.admin.get(configMaps)).items.map(nameOf);
        await world.admin.ask('POST', configMaps, { body: configMap('b-new', '') });
        const before = await names();
        const restoring = world.root.ask('POST', restore, { body: backup, ...upload }).then(
          ({ status }) => status,
          () => 0,
        );
        await new Promise((resolve) => setTimeout(resolve, delayMs));
        await world.server.crash();
        const status = await restoring;
        await world.server.resume();
        // A restore whose switch had started is completed; requests are refused until then.
        await untilServed(world.admin);
        const after = await names();
        const isOld = JSON.stringify(after) === JSON.stringify(before);
        outcomes.add(isOld ? 'old' : 'new');
        if (status === 200) assert.ok(!isOld, 'an acknowledged restore is complete');
        if (!isOld) await insistOnRestored(world, objects);
      }
      assert.equal((await world.root.ask('POST', restore, { body: backup, ...upload })).status, 200);
      await insistOnRestored(world, objects);
      await informers.compare();
    });
  });
}

async function untilServed(admin: Access): Promise<void> {
  for (;;) {
    const status = await admin.ask('GET', `${secrets}/s`).then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === 200) return;
    assert.ok(status === 503 || status === 0, String(status));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
