/**
 * Backup and restore of a HostedControlPlane with the real programs: etcd, etcdutl, kube-apiserver, and an S3 server. A restore in place
 * returns the objects of the backup, ends watches from before, and keeps credentials; an informer of client-go has the cache of the server
 * afterwards. A drill has the authorities of the backup; a damaged backup changes nothing.
 */

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { backupKey, openDestination, readContainer, s3Storage, writeContainer } from '@hangar/backup';
import type { BackupDestination } from '@hangar/backup';
import { labels as backupLabels } from '@hangar/backup-operator';
import type { BackupTarget, Restorable, RestoreOptions, RestoreProgress } from '@hangar/backup-operator';
import { configOfKubeconfig, connect, find } from '@hangar/client';
import type { Client } from '@hangar/client';
import { TokenReview } from '@hangar/client/kinds/authentication-v1';
import { ConfigMap, PersistentVolumeClaim, Pod, Secret } from '@hangar/client/kinds/core-v1';
import { hasCode } from '@hangar/core';
import { annotations, HostedControlPlane } from '../../operators/hosted/src/api/index.ts';
import { hostedTarget } from '../../operators/hosted/src/backup/target.ts';
import { startVersitygw } from '../../packages/backup/src/testing/s3-servers.ts';
import type { S3Server } from '../../packages/backup/src/testing/s3-servers.ts';
import { tool } from '../../tools/tool.ts';
import { until } from '../process-runtime/testing/until.ts';
import { startInformer } from './informer/program.ts';
import { key, namespace, ProcessCluster } from './testing/process-cluster.ts';

const { signal } = new AbortController();
const program = fileURLToPath(new URL('../../bin/hangar.js', import.meta.url));
const sealing = backupKey(Buffer.alloc(32, 7));

describe('backups of a HostedControlPlane', () => {
  let [cluster, server, target, folder, destination]: [
    ProcessCluster,
    S3Server,
    BackupTarget,
    string,
    BackupDestination,
  ] = [] as never;
  const opened = new AsyncDisposableStack();
  /** Of the backup `demo`. */
  let digest = '';

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hangar-hosted-backup-'));
    opened.defer(() => rm(folder, { recursive: true }));
    server = opened.use(await startVersitygw());
    await server.createBucket('backups');
    const storage = s3Storage({ bucket: 'backups', endpoint: server.endpoint, credentials: server.credentials });
    opened.defer(() => storage.close());
    destination = openDestination(storage);
    const hangar = join(folder, 'hangar');
    await writeFile(hangar, `#!/bin/sh\nexec ${process.execPath} ${program} "$@"\n`, { mode: 0o755 });
    cluster = opened.use(await ProcessCluster.start({ images: { etcdutl: await tool('etcdutl'), hangar } }));
    target = hostedTarget({
      client: cluster.client,
      reach: 'endpoint',
      scratchFolder: folder,
      image: 'localhost/hangar:1',
    });
    await cluster.client.create(HostedControlPlane, {
      metadata: { ...key },
      spec: { version: 'v1.36.4', replicas: 1, etcd: { replicas: 3 } },
    });
    await cluster.ready();
  });
  after(() => opened.disposeAsync());

  /** Stores a backup, encrypted, with keys. Returns its summary. */
  async function backUp(name: string) {
    const exported = await target.export(key, { includesKeys: true, signal });
    const manifest = {
      payload: exported.payload,
      controlPlane: { name: key.name, mode: exported.mode },
      versions: exported.versions,
      createdAt: new Date().toISOString(),
    };
    await destination.put(name, writeContainer(exported.content, { manifest, key: sealing }));
    return exported.summary();
  }

  const stored = (name: string) => async (): Promise<Restorable> => {
    const { content } = await destination.get(name);
    const { manifest, payload } = await readContainer(content, { key: sealing });
    return { payload: manifest.payload, hasKeys: true, content: payload };
  };

  async function complete(call: () => Promise<RestoreProgress>) {
    let summary;
    let last = '';
    await until(
      'the restore is complete',
      async () => {
        const progress = await call().catch((error: unknown) => {
          if (hasCode(error, 'Interrupted') || hasCode(error, 'Conflict')) return undefined;
          throw error;
        });
        if (progress?.state === 'Pending' && progress.message !== last) console.log((last = progress.message));
        summary = progress?.state === 'Complete' ? progress.summary : undefined;
        return summary !== undefined;
      },
      async () =>
        [last, ...(await cluster.pods()).map((pod) => JSON.stringify([pod.metadata.name, pod.status]))].join('\n'),
    );
    return summary!;
  }

  const restore = (uid: string, name: string): RestoreOptions => ({ uid, signal, open: stored(name) });

  async function administrator(plane = key.name): Promise<Client> {
    const client = connect(await configOfKubeconfig(await cluster.secret(`${plane}-kubeconfig`, 'value')));
    opened.defer(() => client.close());
    return client;
  }

  test('a restore in place returns the objects of the backup with higher revisions', async () => {
    const inside = await administrator();
    await inside.create(ConfigMap, { metadata: { namespace: 'default', name: 'before' }, data: { a: '1' } });
    await cluster.kubectl('create', 'serviceaccount', 'robot');
    const token = (await cluster.kubectl('create', 'token', 'robot')).trim();
    const summary = await backUp('demo');
    digest = summary.contentDigest;
    assert.ok(summary.objects > 100, `${summary.objects} objects`);
    await inside.create(ConfigMap, { metadata: { namespace: 'default', name: 'after' }, data: {} });
    const list = await inside.list(ConfigMap, { namespace: 'default' });
    const kubeconfig = join(folder, 'informer.kubeconfig');
    await writeFile(kubeconfig, await cluster.secret('demo-kubeconfig', 'value'), { mode: 0o600 });
    await using informer = await startInformer(kubeconfig);
    assert.ok('default/after' in (await informer.content()));
    const started = Date.now();
    const restored = await complete(() => target.replace(key, restore('first', 'demo')));
    console.log(`restore in place: ${Date.now() - started} ms`);
    assert.deepEqual([restored.objects, restored.contentDigest], [summary.objects, summary.contentDigest]);

    await until('the cache of the informer is that of the server', async () => {
      const { items } = await inside.list(ConfigMap);
      const served = items.map(({ metadata: { namespace: at, name, resourceVersion } }) => [
        `${at}/${name}`,
        resourceVersion,
      ]);
      return isDeepStrictEqual(await informer.content(), Object.fromEntries(served));
    });
    assert.ok(!('default/after' in (await informer.content())));
    // The kubeconfig from before still works.
    assert.equal((await inside.get(ConfigMap, { namespace: 'default', name: 'before' })).data?.['a'], '1');
    assert.equal(await find(inside, ConfigMap, { namespace: 'default', name: 'after' }), undefined);
    const again = await inside.list(ConfigMap, { namespace: 'default' });
    assert.ok(BigInt(again.resourceVersion) > BigInt(list.resourceVersion) + 900_000_000n);
    const { host, port } = (await cluster.client.get(HostedControlPlane, key)).spec.controlPlaneEndpoint!;
    const old = `https://${host}:${port}/api/v1/namespaces/default/configmaps?watch=true&resourceVersion=${list.resourceVersion}`;
    assert.match(
      await cluster.kubectl('get', '--raw', new URL(old).pathname + new URL(old).search),
      /"code":410|Expired|too old/,
    );
    const review = await inside.create(TokenReview, { metadata: {}, spec: { token } });
    assert.equal(review.status?.user?.username, 'system:serviceaccount:default:robot');
    assert.deepEqual(
      (await cluster.pods()).filter(({ metadata }) => /-etcd-(restore|activate|clean)-/.test(metadata.name!)),
      [],
    );
  });

  test('a second restore of the same backup uses no revision of the first again', async () => {
    const inside = await administrator();
    await inside.create(ConfigMap, { metadata: { namespace: 'default', name: 'between' }, data: {} });
    const { resourceVersion } = await inside.list(ConfigMap, { namespace: 'default' });
    await complete(() => target.replace(key, restore('second', 'demo')));
    assert.equal(await find(inside, ConfigMap, { namespace: 'default', name: 'between' }), undefined);
    const again = await inside.list(ConfigMap, { namespace: 'default' });
    assert.ok(BigInt(again.resourceVersion) > BigInt(resourceVersion));
  });

  test('a damaged backup changes nothing', async () => {
    const state = async () => {
      const { metadata } = await cluster.client.get(HostedControlPlane, key);
      const pods = (await cluster.client.list(Pod, { namespace })).items.map((pod) => pod.metadata.uid).sort();
      return [metadata.annotations?.[annotations.restore], metadata.annotations?.[annotations.restored], pods];
    };
    const before = await state();
    async function* damaged(content: AsyncGenerator<Uint8Array, void, void>) {
      let bytes = 0;
      for await (const chunk of content) {
        const copy = Buffer.from(chunk);
        if (bytes <= 100_000 && bytes + copy.length > 100_000) copy[100_000 - bytes]! ^= 1;
        bytes += copy.length;
        yield copy;
      }
    }
    const open = async (): Promise<Restorable> => {
      const { content, ...rest } = await stored('demo')();
      return { ...rest, content: damaged(content) };
    };
    await assert.rejects(target.replace(key, { ...restore('third', 'demo'), open }), (error) =>
      hasCode(error, 'Refused'),
    );
    assert.deepEqual(await state(), before);
  });

  test('a drill restores the objects and the authorities of the backup, and is deleted', async () => {
    const copy = { namespace, name: 'copy' };
    const labels = { [backupLabels.drill]: 'nightly' };
    const restored = await complete(() => target.create(copy, { ...restore('fourth', 'demo'), labels }));
    assert.equal(restored.contentDigest, digest);
    // API servers have started since, and write a few objects.
    const summary = await target.summarize(copy, { signal });
    assert.ok(Math.abs(summary.objects - restored.objects) < 20, `${summary.objects} of ${restored.objects} objects`);
    const inside = await administrator('copy');
    assert.equal((await inside.get(ConfigMap, { namespace: 'default', name: 'before' })).data?.['a'], '1');
    for (const name of ['ca', 'sa']) {
      const read = (plane: string) => cluster.secret(`${plane}-${name}`, 'tls.crt');
      assert.equal(await read('copy'), await read('demo'));
    }
    await assert.rejects(target.create(copy, restore('fifth', 'demo')), (error) => hasCode(error, 'AlreadyExists'));
    await assert.rejects(target.delete(key, { signal }), (error) => hasCode(error, 'Refused'));
    await target.delete(copy, { signal });
    await until('the drill is deleted', async () => {
      const secret = await find(cluster.client, Secret, { namespace, name: 'copy-ca' });
      const { items: claims } = await cluster.client.list(PersistentVolumeClaim, { namespace });
      const names = claims.map(({ metadata }) => metadata.name!);
      const object = await find(cluster.client, HostedControlPlane, copy);
      return !object && !secret && names.every((name) => !name.startsWith('data-copy-'));
    });
    await target.delete(copy, { signal });
  });
});
