import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encodeRequest, openMemoryStore, replicaDigest, ReplicaWriter } from '@hangar/store';
import type { HistoryHold, ReplicaFrame, Revision, Store } from '@hangar/store';
import { planePath, tenants, TenancyServer } from '../../testing/tenancy-server.ts';
import { configMap, configMaps } from '../../testing/test-server.ts';
import type { Data } from '../../testing/test-server.ts';
import { elsewhere, FrameReader } from './testing.ts';

const path = planePath('demo');
const replica = `${tenants}/demo/replica`;
const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
const authentication = 'extension-apiserver-authentication';
const merge = 'application/merge-patch+json';

const change = (server: TenancyServer, target: string, label: string): Promise<Data> =>
  server.expect(200, 'PATCH', `${path}${target}`, { body: { metadata: { labels: { label } } }, contentType: merge });

const upTo =
  (revision: number) =>
  (frame: ReplicaFrame): boolean =>
    frame.type !== 'entry' && frame.revision >= revision;

describe('the replica of a tenant', () => {
  test('has the visible content with its revisions, follows changes, and survives a hold', async () => {
    await using server = await TenancyServer.open();
    await server.make('demo');
    await change(server, `${roles}/edit`, 'before');
    await server.expect(200, 'DELETE', `${path}${roles}/system:discovery`);
    await server.expect(200, 'DELETE', `${path}/api/v1/namespaces/kube-system/configmaps/${authentication}`);
    await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('a') });
    const admin = await server.expect(200, 'GET', `${path}${roles}/admin`);
    const watch = await server.watch(`${path}${roles}?watch=true&resourceVersion=${admin.metadata.resourceVersion}`);
    const target = await openMemoryStore();
    const writer = new ReplicaWriter({ store: target, prefix: '/r/', positionKey: '/position' });
    await using reader = await FrameReader.open(server, 'demo');
    const snapshot = await reader.until(({ type }) => type === 'snapshot');
    await writer.apply(snapshot);
    assert.deepEqual(await server.expect(200, 'GET', `${path}${roles}/admin`), admin, 'the base is copied unnoticed');
    for (const [name, label] of [
      ['admin', 'first'],
      ['admin', 'second'],
      ['edit', 'after'],
    ]) {
      await change(server, `${roles}/${name}`, label!);
    }
    await server.expect(200, 'DELETE', `${path}${roles}/view`);
    const names = snapshot.flatMap((frame) => (frame.type === 'entry' ? [frame.entry.key] : []));
    assert.ok(names.includes('clusterroles/admin') && !names.includes(`configmaps/kube-system/${authentication}`));
    // A kube-apiserver does not start without them.
    assert.ok(names.includes('clusterroles/system:discovery') && names.includes('ranges/servicenodeports'));
    assert.ok(!names.some((name) => name.startsWith('.')), names.join());
    await server.expect(201, 'POST', `${tenants}/demo/hold?id=m`);
    const { status: state } = await server.expect(200, 'GET', `${replica}?state=true`);
    assert.equal(state.serving, 'Local');
    assert.equal(state.heldBy, 'm');
    await writer.apply(await reader.until(upTo(state.heldAt)));
    const { status: digest } = await server.expect(200, 'GET', `${replica}?digest=true`);
    assert.equal(digest.revision, state.heldAt);
    const own = await replicaDigest(target, { prefix: '/r/' });
    assert.deepEqual([own.entries, own.digest], [digest.entries, digest.digest]);
    const admins = await target.get('/r/clusterroles/admin');
    assert.equal(admins.entry!.version, 3, 'as in a store that repeats the transactions');
    await watch.ended();
    const told = (await watch.told(watch.waiting)).filter((one) => !/ (edit|view|system:discovery)$/.test(one));
    assert.deepEqual(new Set(told), new Set(['MODIFIED admin']));
    await server.expect(201, 'POST', `${tenants}/demo/release?id=m`);
    const after = await change(server, `${roles}/admin`, 'third');
    const rest = await reader.until(upTo(Number(after.metadata.resourceVersion)));
    assert.ok(rest.some((frame) => frame.type === 'batch' && frame.puts[0]?.key === 'clusterroles/admin'));
  });

  test('continues after a revision, or answers 410', async () => {
    await using server = await TenancyServer.open();
    await server.make('demo');
    const one = await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('a') });
    const two = await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('b') });
    await using reader = await FrameReader.open(server, 'demo', `?after=${one.metadata.resourceVersion}`);
    const frames = await reader.until(upTo(Number(two.metadata.resourceVersion)));
    const keys = new Set(frames.flatMap((one) => (one.type === 'batch' ? one.puts.map(({ key }) => key) : [])));
    assert.ok(keys.has('configmaps/default/b') && !keys.has('configmaps/default/a'));
    await server.expect(410, 'GET', `${replica}?after=0`);
    await server.expect(400, 'GET', `${replica}?after=x`);
  });

  test('holds the history after the snapshot, also when changes were sent behind it', async () => {
    const holds: HistoryHold[] = [];
    await using opened = new AsyncDisposableStack();
    const store: Store = opened.adopt(await openMemoryStore(), (one) => one.close());
    store.holdHistory = (hold) => void holds.push(hold);
    const server = opened.use(await TenancyServer.open({ store }));
    await server.make('demo');
    const reader = await FrameReader.open(server, 'demo');
    const [snapshot] = (await reader.until(({ type }) => type === 'snapshot')).slice(-1);
    assert.ok(snapshot?.type === 'snapshot');
    const later = await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('a') });
    await reader.until(upTo(Number(later.metadata.resourceVersion)));
    await reader[Symbol.asyncDispose]();
    assert.ok(holds.every(({ holder, revision }) => holder === 'demo' && revision <= snapshot.revision));
    assert.ok(holds.length > 0 && holds.at(-1)!.ttlMs >= 600_000);
    await using following = await FrameReader.open(server, 'demo', `?after=${snapshot.revision}`);
    await following.until(upTo(Number(later.metadata.resourceVersion)));
    assert.equal(holds.at(-1)!.revision, snapshot.revision);
  });

  test('is limited in its streams', async () => {
    await using server = await TenancyServer.open();
    await server.make('demo');
    await using opened = new AsyncDisposableStack();
    for (let at = 0; at < 4; at++) opened.use(await FrameReader.open(server, 'demo'));
    await server.expect(429, 'GET', replica);
  });
});

/** A tenant that moved to another API server, and the frames of the content there: one more ConfigMap, at a later revision. */
async function moved(server: TenancyServer): Promise<{ frames: ReplicaFrame[]; last: Revision; before: Data }> {
  await server.make('demo');
  await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('a') });
  const before = await server.expect(200, 'GET', `${path}${roles}/admin`);
  await using reader = await FrameReader.open(server, 'demo');
  const frames = await reader.until(({ type }) => type === 'snapshot');
  const { revision } = frames.at(-1) as { revision: Revision };
  const last = (revision + 1_000) as Revision;
  const entry = frames.flatMap((one) => (one.type === 'entry' && one.entry.key.endsWith('/a') ? [one.entry] : []))[0]!;
  const value = Buffer.from(Buffer.from(entry.value).toString().replace('"name":"a"', '"name":"b"'));
  const put = { key: 'configmaps/default/b', value, createRevision: last, modRevision: last, version: 1 };
  frames.push({ type: 'batch', revision: last, after: revision, puts: [put], deletes: ['clusterroles/view'] });
  await server.expect(201, 'POST', `${tenants}/demo/hold?id=to`);
  await server.expect(201, 'POST', `${tenants}/demo/remote?id=to`, { body: { spec: elsewhere } });
  return { frames, last, before };
}

const act = (server: TenancyServer, status: number, query: string, body?: Uint8Array): Promise<Data> =>
  server.expect(status, 'POST', `${replica}?${query}`, body ? { body, contentType: 'application/octet-stream' } : {});

describe('a tenant that receives its content back', () => {
  test('serves it with the same revisions, and resumes watches from the last one', async () => {
    await using server = await TenancyServer.open();
    const { frames, last, before } = await moved(server);
    await act(server, 201, 'id=back&action=start');
    const keys = await contentKeys(server.store);
    assert.deepEqual(keys, []);
    await act(server, 201, 'id=back&action=receive', encodeRequest(frames.slice(0, 40)));
    await act(server, 201, 'id=back&action=receive', encodeRequest(frames.slice(20)));
    await act(server, 201, 'id=back&action=start');
    const { status } = await server.expect(200, 'GET', `${replica}?state=true`);
    assert.deepEqual(status.received, { by: 'back', revision: last });
    await act(server, 409, `id=back&action=serve&revision=${last}`);
    await server.expect(201, 'POST', `${tenants}/demo/hold?id=back`);
    await act(server, 409, `id=back&action=serve&revision=${last + 1}`);
    await act(server, 409, `id=other&action=serve&revision=${last}`);
    await act(server, 201, `id=back&action=serve&revision=${last}`);
    await act(server, 201, `id=back&action=serve&revision=${last}`);
    assert.deepEqual(await server.expect(200, 'GET', `${path}${roles}/admin`), before);
    await server.expect(404, 'GET', `${path}${roles}/view`);
    const { metadata } = await server.expect(200, 'GET', `${path}${configMaps}/b`);
    assert.equal(metadata.resourceVersion, String(last));
    const watch = await server.watch(`${path}${configMaps}?watch=true&resourceVersion=${last}`);
    const created = await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('c') });
    assert.ok(Number(created.metadata.resourceVersion) > last);
    assert.deepEqual(await watch.told(1), ['ADDED c']);
    watch.close();
    const early = await server.watch(`${path}${configMaps}?watch=true&resourceVersion=${last - 1}`);
    const [gone] = await early.events(1);
    assert.equal(gone!.object.code, 410);
    const tenant = await server.expect(200, 'GET', `${tenants}/demo`);
    assert.deepEqual(tenant.status.serving, { mode: 'Local' });
    assert.equal(tenant.status.isMaterialised, true);
  });

  test('refuses damaged frames, and requests of another migration', async () => {
    await using server = await TenancyServer.open();
    const { frames } = await moved(server);
    await act(server, 409, 'id=back&action=receive', encodeRequest(frames));
    await act(server, 201, 'id=back&action=start');
    const request = encodeRequest(frames);
    const damaged = Buffer.from(request);
    damaged[damaged.length >> 1]! ^= 1;
    await act(server, 400, 'id=back&action=receive', damaged);
    await act(server, 409, 'id=other&action=receive', request);
    const internal: ReplicaFrame[] = frames.map((frame) =>
      frame.type === 'batch' ? { ...frame, deletes: ['.hangar/tenant'] } : frame,
    );
    await act(server, 400, 'id=back&action=receive', encodeRequest(internal));
    await act(server, 400, 'id=back&action=receive', request.subarray(0, request.length - 1));
    await act(server, 400, 'id=back&action=fly');
    // A new migration takes over, and the former one can no longer write.
    await act(server, 201, 'id=other&action=start');
    await act(server, 409, 'id=back&action=receive', request);
    await act(server, 201, 'id=other&action=receive', request);
    await act(server, 201, 'id=other&action=delete');
    assert.deepEqual(await contentKeys(server.store), []);
    const { status } = await server.expect(200, 'GET', `${replica}?state=true`);
    assert.deepEqual(status, { serving: 'Remote', server: elsewhere.server });
  });

  test('keeps the data of a tenant that serves itself', async () => {
    await using server = await TenancyServer.open();
    await server.make('demo');
    await server.expect(201, 'POST', `${path}${configMaps}`, { body: configMap('a') });
    for (const action of ['start', 'delete', 'serve&revision=1']) await act(server, 409, `id=m&action=${action}`);
    await server.expect(200, 'GET', `${path}${configMaps}/a`);
  });
});

async function contentKeys(store: Store): Promise<string[]> {
  const prefix = '/registry/clusters/demo/';
  const { entries } = await store.range({ start: prefix, end: '/registry/clusters/demo0' }, { keysOnly: true });
  return entries.map(({ key }) => key.slice(prefix.length)).filter((key) => !key.startsWith('.hangar/'));
}
