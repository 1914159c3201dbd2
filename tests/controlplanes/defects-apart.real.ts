/**
 * The rest of defects.test.ts: tests that require a separate process, because they measure all of it. The numbers are those of the list in
 * the issue.
 */

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { configOfKubeconfig, connect, defineKind, find } from '@hangar/client';
import type { ApiObject, Client } from '@hangar/client';
import { CustomResourceDefinition } from '@hangar/client/kinds/apiextensions-v1';
import { ConfigMap, Namespace, ServiceAccount } from '@hangar/client/kinds/core-v1';
import { ControlPlane } from '@hangar/controlplane-operator';
import { until, untilGone } from '../../operators/controlplane/src/testing/until.ts';
import { defineClusters } from './testing/objects.ts';
import { Up } from './testing/up.ts';

describe('1. a namespace or a kind that is called clusters is a name like any other', () => {
  for (const flags of [['--store=memory'], []]) {
    test(`in two control planes and the management plane, ${flags[0] ?? 'on disk'}`, async () => {
      await using platform = await Up.start({ flags });
      await Promise.all(['red', 'blue'].map((name) => platform.create(name, { deletionPolicy: 'Destroy' })));
      const planes = new Map<string, Client>([
        ['root', platform.client],
        ['red', await platform.inside('red')],
        ['blue', await platform.inside('blue')],
      ]);
      const Cluster = defineKind<ApiObject & { spec: { of: string } }>({
        apiVersion: 'cluster.x-k8s.io/v1',
        kind: 'Cluster',
        plural: 'clusters',
        isNamespaced: true,
      });
      for (const [of, client] of planes) {
        for (const name of ['clusters', 'control-plane']) {
          await client.create(Namespace, { metadata: { name } });
          await client.create(ConfigMap, { metadata: { namespace: name, name: 'mine' }, data: { of } });
        }
        await defineClusters(client);
        // Named like control planes, too.
        for (const name of ['red', 'blue']) {
          await client.create(Cluster, { metadata: { namespace: 'clusters', name }, spec: { of } });
        }
      }
      const isAsItWas = async (of: string): Promise<void> => {
        const client = planes.get(of)!;
        const { items: maps } = await client.list(ConfigMap, { fieldSelector: 'metadata.name=mine' });
        assert.deepEqual(
          maps.map(({ metadata, data }) => [metadata.namespace, data!['of']]),
          [
            ['clusters', of],
            ['control-plane', of],
          ],
        );
        const { items: clusters } = await client.list(Cluster);
        assert.deepEqual(
          clusters.map(({ metadata, spec }) => [metadata.name, spec.of]),
          [
            ['blue', of],
            ['red', of],
          ],
        );
        assert.equal((await client.get(Cluster, { namespace: 'clusters', name: 'red' })).spec.of, of);
        assert.equal((await client.get(ConfigMap, { namespace: 'clusters', name: 'mine' })).data!['of'], of);
      };
      for (const of of planes.keys()) await isAsItWas(of);

      // A deletion in one of them is not visible in any other.
      const stop = new AbortController();
      const seen: string[] = [];
      const { resourceVersion } = await planes.get('blue')!.list(ConfigMap);
      const watched = (async () => {
        for await (const event of planes.get('blue')!.watch(ConfigMap, { resourceVersion, signal: stop.signal })) {
          if (event.type === 'BOOKMARK') continue;
          seen.push(`${event.type} ${event.object.metadata.namespace}/${event.object.metadata.name}`);
          if (event.object.metadata.name === 'end') return;
        }
      })();
      const red = planes.get('red')!;
      await red.delete(CustomResourceDefinition, { name: 'clusters.cluster.x-k8s.io' });
      await red.delete(Namespace, { name: 'clusters' });
      await untilGone(red, Namespace, 'clusters');
      await planes.get('blue')!.create(ConfigMap, { metadata: { namespace: 'default', name: 'end' } });
      await watched;
      assert.deepEqual(seen, ['ADDED default/end']);
      await isAsItWas('blue');
      await isAsItWas('root');
      await platform.client.delete(ControlPlane, { name: 'red' });
      await untilGone(platform.client, ControlPlane, 'red');
      await isAsItWas('blue');
      await isAsItWas('root');
    });
  }
});

describe('3. a control plane that nobody uses costs nothing', () => {
  const count = 50;
  const idleMs = 3_000;
  /** Share of one core: allows for garbage collection and a loaded machine, and is a tenth of the cost of 50 service loops. */
  const cpuShareMax = 0.08;

  test(`${count} of them, idle for ${idleMs / 1000} seconds: no request, no write, no processor time`, async () => {
    await using platform = await Up.start();
    await Promise.all(Array.from({ length: count }, (_, at) => platform.create(`idle-${at}`)));
    const families = ['apiserver_request_total', 'hangar_tenant_requests_total', 'process_cpu_seconds_total'];
    const revision = await platform.settled();
    const before = await platform.metric(...families);
    await sleep(idleMs);
    const now = await platform.metric(...families);
    const [requests, ofTenants, cpuSeconds] = now.map((value, at) => value - before[at]!);
    // Our own request, for the figures from before.
    assert.equal(requests, 1);
    assert.equal(ofTenants, 0);
    assert.equal(await platform.revision(), revision);
    assert.ok(cpuSeconds! < (cpuShareMax * idleMs) / 1000, `${cpuSeconds} s of processor time`);
  });
});

describe('11. the first five minutes', () => {
  test('need nothing but Node: from an empty folder to a control plane whose controllers are at work, and ten more in no time', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hangar-only-node-'));
    // Neither docker nor kind nor a shell can be found there.
    const env = { PATH: dirname(process.execPath), HOME: folder };
    const program = new URL('../../bin/hangar.js', import.meta.url).pathname;
    const server = spawn(process.execPath, [program, 'up', '--port=0', '--data-dir=data'], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      let said = '';
      for await (const piece of server.stdout!.iterator({ destroyOnReturn: false })) {
        said += String(piece);
        if (said.includes('Ctrl-C')) break;
      }
      server.stdout!.resume();
      const demo = connect(await configOfKubeconfig(await readFile(join(folder, 'data/demo.kubeconfig'), 'utf8')));
      await controllersWork(demo);
      await demo.close();
      const [startMs, tookMs]: [number[], number[]] = [[], []];
      for (let at = 0; at < 10; at++) {
        let begunMs = performance.now();
        await promisify(execFile)(process.execPath, [program, '--version'], { cwd: folder, env, timeout: 30_000 });
        startMs.push(performance.now() - begunMs);
        begunMs = performance.now();
        const args = [program, 'create', `more-${at}`, '--data-dir=data', '-o', `more-${at}.kubeconfig`];
        await promisify(execFile)(process.execPath, args, { cwd: folder, env, timeout: 30_000 });
        tookMs.push(performance.now() - begunMs);
        const more = connect(await configOfKubeconfig(await readFile(join(folder, `more-${at}.kubeconfig`), 'utf8')));
        await more.create(ConfigMap, { metadata: { namespace: 'default', name: 'usable' } });
        await more.close();
      }
      // The best of at most ten starts: other work can slow down this machine.
      const bestMs = Math.min(...tookMs);
      const limitMs = Math.max(1_000, 10 * Math.min(...startMs));
      assert.ok(bestMs < limitMs, `${bestMs} ms`);
    } finally {
      server.kill('SIGKILL');
      if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
      await rm(folder, { recursive: true, force: true });
    }
  });
});

/** Default accounts, garbage collection, and the deletion of namespaces. */
async function controllersWork(client: Client): Promise<void> {
  await client.create(Namespace, { metadata: { name: 'short' } });
  await until(client, ServiceAccount, 'default', (one) => one !== undefined, 'short');
  const owner = await client.create(ConfigMap, { metadata: { namespace: 'short', name: 'owner' } });
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid! }];
  await client.create(ConfigMap, { metadata: { namespace: 'short', name: 'dependent', ownerReferences } });
  await client.create(ConfigMap, { metadata: { namespace: 'short', name: 'other' } });
  await client.delete(ConfigMap, { namespace: 'short', name: 'owner' });
  await until(client, ConfigMap, 'dependent', (one) => one === undefined, 'short');
  assert.ok(await find(client, ConfigMap, { namespace: 'short', name: 'other' }));
  await client.delete(Namespace, { name: 'short' });
  await untilGone(client, Namespace, 'short');
  assert.deepEqual((await client.list(ConfigMap, { namespace: 'short' })).items, []);
}
