/** A real kube-apiserver on a replica of the etcd of another one: behind the fence, while it follows, and after it. */

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { replicaDigest, replicaFrames } from '@hangar/store';
import type { Revision, Store } from '@hangar/store';
import { openEtcdStore } from '@hangar/store/etcd';
import { openEtcdFence, openEtcdReplica } from '@hangar/store/etcd-replica';
import type { EtcdReplica } from '@hangar/store/etcd-replica';
import { writeSnapshotFile } from '@hangar/store/etcd-snapshot';
import { startRealServer } from '../../packages/api/src/testing/real-server.ts';
import type { RealServer } from '../../packages/api/src/testing/real-server.ts';
import { startEtcd } from '../../packages/store/src/drivers/etcd/testing/etcd-process.ts';

const prefix = '/registry/';
const reader = 'kube-apiserver-etcd-client';
const requestTimeoutMs = 20_000;
const maps = '/api/v1/namespaces/default/configmaps';
const media = '--storage-media-type=application/json';

interface ConfigMap {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
}

interface WatchEvent {
  readonly type: string;
  readonly object: ConfigMap & { readonly code?: number };
}

async function create(server: RealServer, name: string): Promise<number> {
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { name } });
  return (await server.request('POST', maps, { body })).status;
}

async function list(server: RealServer): Promise<{ items: ConfigMap[]; metadata: { resourceVersion: string } }> {
  const answer = await server.request('GET', maps);
  assert.equal(answer.status, 200);
  return JSON.parse(answer.body.toString()) as Awaited<ReturnType<typeof list>>;
}

/** Events from a revision until the server ends the watch. */
async function watched(server: RealServer, resourceVersion: string): Promise<WatchEvent[]> {
  const query = `watch=true&timeoutSeconds=3&resourceVersion=${resourceVersion}`;
  const answer = await server.request('GET', `${maps}?${query}`);
  const lines = answer.body.toString().split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as WatchEvent);
}

async function follow(source: Store, replica: EtcdReplica): Promise<Revision> {
  const controller = new AbortController();
  const { signal } = controller;
  const end = await source.revision();
  for await (const frame of replicaFrames(source, { prefix, signal, after: await replica.position() })) {
    await replica.apply([frame]);
    if (frame.type !== 'entry' && frame.revision >= end) break;
  }
  controller.abort();
  return replica.position();
}

test('a kube-apiserver on a replica lists, watches and continues with the same resourceVersions', async (context) => {
  const opened = new AsyncDisposableStack();
  context.after(() => opened.disposeAsync());
  const folder = await mkdtemp(join(tmpdir(), 'hangar-replica-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const source = opened.use(await startRealServer([media]));
  const store = opened.adopt(await openEtcdStore({ endpoints: [source.etcdUrl], requestTimeoutMs }), (one) =>
    one.close(),
  );
  for (let at = 0; at < 20; at++) assert.equal(await create(source, `before-${at}`), 201);
  const early = (await list(source)).items[3]!.metadata.resourceVersion;

  const snapshot = join(folder, 'seed.db');
  const controller = new AbortController();
  const frames = replicaFrames(store, { prefix, signal: controller.signal });
  const seeded = await writeSnapshotFile(snapshot, frames, { prefix });
  const etcd = opened.adopt(await startEtcd({ snapshot, tls: true, unsafeNoFsync: true }), (one) => one.stop());
  const { ca, client, authority } = etcd.tls!;
  const { endpoints } = etcd;
  const options = { endpoints, tls: { ca, ...client }, requestTimeoutMs };
  const fence = opened.adopt(openEtcdFence({ ...options, reader, operator: 'root' }), (one) => one.close());
  assert.equal(await fence.fence(), seeded.revision);
  const replica = opened.adopt(await openEtcdReplica({ ...options, prefix }), (one) => one.close());

  const certificate = authority.issue(reader);
  const files = { 'ca.crt': ca, 'client.crt': certificate.cert, 'client.key': certificate.key };
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content, { mode: 0o600 });
  const target = opened.use(
    await startRealServer([
      media,
      `--etcd-servers=${endpoints[0]}`,
      `--etcd-cafile=${join(folder, 'ca.crt')}`,
      `--etcd-certfile=${join(folder, 'client.crt')}`,
      `--etcd-keyfile=${join(folder, 'client.key')}`,
    ]),
  );
  const first = await list(target);
  assert.equal(first.metadata.resourceVersion, String(seeded.revision));
  assert.equal(await create(target, 'refused'), 500);
  const [tooOld] = await watched(target, early);
  assert.deepEqual([tooOld?.type, tooOld?.object.code], ['ERROR', 410]);

  for (let at = 0; at < 10; at++) {
    assert.equal(await create(source, `after-${at}`), 201);
    const path = `${maps}/before-${at}`;
    const { status } = await source.request('DELETE', path);
    assert.equal(status, 200);
  }
  const position = await follow(store, replica);
  assert.deepEqual(await replica.digest(position), await replicaDigest(store, { prefix, at: position }));
  const since = first.metadata.resourceVersion;
  const [ours, theirs] = await Promise.all([watched(source, since), watched(target, since)]);
  assert.equal(ours.length, 20);
  assert.deepEqual(theirs, ours);
  assert.deepEqual((await list(target)).items, (await list(source)).items);

  await fence.unfence();
  assert.equal(await create(target, 'accepted'), 201);
  const accepted = (await list(target)).items.find(({ metadata }) => metadata.name === 'accepted');
  assert.ok(Number(accepted!.metadata.resourceVersion) > position);
  // A resourceVersion from before the switch is a precondition that still applies.
  const known = ours.find(({ type }) => type === 'ADDED');
  const update = { ...known!.object, data: { changed: 'true' } };
  const path = `${maps}/${known!.object.metadata.name}`;
  assert.equal((await target.request('PUT', path, { body: JSON.stringify(update) })).status, 200);
  assert.equal((await target.request('PUT', path, { body: JSON.stringify(update) })).status, 409);
});
