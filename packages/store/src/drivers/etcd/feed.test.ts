/** The shared watch, against a scripted etcd with the rare behaviour of a real one. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Revision, Watch, WatchBatch } from '../../contract.ts';
import { openScripted, putEvent, ScriptedEtcd } from './testing/scripted-etcd.ts';

/** `revision:key,key` for each batch. */
function summary(batch: WatchBatch | undefined): string {
  const keys = batch?.events.map((event) => (event.type === 'put' ? event.entry.key : `-${event.key}`));
  return `${batch?.revision}:${keys?.join(',')}`;
}

async function read(watch: Watch, count: number): Promise<string[]> {
  const batches: string[] = [];
  while (batches.length < count) batches.push(summary(await watch.next()));
  return batches;
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'success',
    (error: { code: string }) => error.code,
  );
}

test('one watch on etcd serves all watches, each with its prefix', async (context) => {
  const etcd = await ScriptedEtcd.start(context);
  const store = await openScripted(context, etcd, { prefix: '/registry/' });
  assert.equal(etcd.calls.includes('Watch'), false, 'it begins with the first watch');
  const all = store.watch({ prefix: '' });
  const some = store.watch({ prefix: '/registry/b' });
  const stream = await etcd.nextWatch();
  assert.deepEqual(stream.create, {
    key: '/registry/',
    range_end: '/registry0',
    start_revision: '11',
    progress_notify: true,
    prev_kv: true,
  });
  stream.send({ events: [putEvent('/registry/a', 11), putEvent('/registry/b', 11), putEvent('/registry/c', 13)] });
  assert.deepEqual(await read(all, 2), ['11:/registry/a,/registry/b', '13:/registry/c']);
  assert.deepEqual(await read(some, 1), ['11:/registry/b']);
  assert.equal(etcd.calls.filter((call) => call === 'Watch').length, 1);
});

test('a broken stream resumes at the next revision; what comes twice is delivered once', async (context) => {
  const etcd = await ScriptedEtcd.start(context);
  const store = await openScripted(context, etcd);
  const watch = store.watch({ prefix: '' });
  const first = await etcd.nextWatch();
  first.send({ events: [putEvent('/a', 11), putEvent('/b', 12)] });
  assert.deepEqual(await read(watch, 2), ['11:/a', '12:/b']);
  first.call.cut();
  const second = await etcd.nextWatch();
  assert.equal(second.create.start_revision, '13');
  second.send({ events: [putEvent('/b', 12), putEvent('/c', 13)] });
  second.call.end(14, 'etcdserver: no leader');
  const third = await etcd.nextWatch();
  assert.equal(third.create.start_revision, '14');
  third.send({ events: [putEvent('/d', 14)] });
  assert.deepEqual(await read(watch, 2), ['13:/c', '14:/d']);
});

test('a revision in fragments is one batch', async (context) => {
  const etcd = await ScriptedEtcd.start(context);
  const store = await openScripted(context, etcd);
  const watch = store.watch({ prefix: '' });
  const stream = await etcd.nextWatch();
  stream.send({ fragment: true, events: [putEvent('/a', 11), putEvent('/b', 12)] });
  stream.send({ fragment: true, events: [putEvent('/c', 12)] });
  stream.send({ events: [putEvent('/d', 12), putEvent('/e', 13)] });
  assert.deepEqual(await read(watch, 3), ['11:/a', '12:/b,/c,/d', '13:/e']);
});

test('a gap by compaction ends every watch with Compacted, and new ones work', async (context) => {
  const etcd = await ScriptedEtcd.start(context);
  const store = await openScripted(context, etcd);
  const watches = [store.watch({ prefix: '' }), store.watch({ prefix: '/x' })];
  const waiting = watches.map((watch) => watch.next());
  const first = await etcd.nextWatch();
  etcd.revision = 60;
  first.send({ header: { revision: 0 }, canceled: true, compact_revision: 50 });
  for (const next of waiting) await assert.rejects(next, { code: 'Compacted', compactedRevision: 50 });
  const second = await etcd.nextWatch();
  const from = Number(second.create.start_revision);
  assert.ok(from > 50, String(from));
  const again = store.watch({ prefix: '' });
  second.send({ events: [putEvent('/a', 61)] });
  assert.deepEqual(await read(again, 1), ['61:/a']);
  const old = store.watch({ prefix: '', fromRevision: 50 as Revision });
  assert.equal(await codeOf(old.next()), 'Compacted');
});

test('an event that lost what it replaced to a compaction is a gap, not a creation', async (context) => {
  const etcd = await ScriptedEtcd.start(context);
  const store = await openScripted(context, etcd);
  const watch = store.watch({ prefix: '', previous: true });
  const stream = await etcd.nextWatch();
  etcd.scripts['Range'] = (call) => call.end(11, 'etcdserver: mvcc: required revision has been compacted');
  stream.send({ events: [putEvent('/a', 11), putEvent('/b', 12, { created: 5, previous: 'old' })] });
  stream.send({ events: [putEvent('/c', 13, { created: 5 }), putEvent('/d', 14)] });
  stream.send({ events: [putEvent('/e', 15)] });
  const seen: string[] = [];
  const end = await codeOf(
    (async () => {
      for await (const batch of watch) seen.push(summary(batch));
    })(),
  );
  assert.equal(end, 'Compacted');
  assert.ok(!seen.some((batch) => Number(batch.split(':')[0]) >= 13), 'nothing after the gap was delivered');
});

test('an event that lacks what it replaced, without a compaction, is read again by a new stream', async (context) => {
  const etcd = await ScriptedEtcd.start(context);
  const store = await openScripted(context, etcd);
  const watch = store.watch({ prefix: '', previous: true });
  const first = await etcd.nextWatch();
  etcd.revision = 15;
  first.send({ events: [putEvent('/a', 11), putEvent('/c', 13, { created: 5 }), putEvent('/d', 14)] });
  first.send({ events: [putEvent('/e', 15)] });
  const second = await etcd.nextWatch();
  assert.equal(second.create.start_revision, '12');
  second.send({
    events: [putEvent('/c', 13, { created: 5, previous: 'old' }), putEvent('/d', 14), putEvent('/e', 15)],
  });
  const batches = [await watch.next(), await watch.next(), await watch.next(), await watch.next()];
  assert.deepEqual(batches.map(summary), ['11:/a', '13:/c', '14:/d', '15:/e']);
  const [event] = batches[1]!.events;
  assert.equal(Buffer.from(event!.previous!.value).toString(), 'old');
  // No revision counts as compacted.
  assert.equal(await codeOf(store.watch({ prefix: '', fromRevision: 11 as Revision }).next()), 'success');
});

test('a history that lacks what an event replaced, without a compaction, is read again', async (context) => {
  const etcd = await ScriptedEtcd.start(context);
  const store = await openScripted(context, etcd);
  const watch = store.watch({ prefix: '', fromRevision: 3 as Revision, previous: true });
  await etcd.nextWatch();
  const reading = read(watch, 1);
  (await etcd.nextWatch()).send({ events: [putEvent('/a', 4, { created: 2 })] });
  const again = await etcd.nextWatch();
  assert.equal(again.create.start_revision, '3');
  again.send({ events: [putEvent('/a', 4, { created: 2, previous: 'old' })] });
  assert.deepEqual(await reading, ['4:/a']);
});

test('progress is asked for after the confirmation, again until it comes, and marks what was delivered', async (context) => {
  const etcd = await ScriptedEtcd.start(context);
  const store = await openScripted(context, etcd);
  // As a real one does while a watch is catching up.
  etcd.onProgressRequest = (watch) => watch.progressRequests >= 3 && watch.send({});
  const watch = store.watch({ prefix: '' });
  const stream = await etcd.nextWatch();
  stream.send({ events: [putEvent('/a', 11)] });
  etcd.revision = 15;
  watch.requestProgress();
  assert.deepEqual(await read(watch, 2), ['11:/a', '15:']);
  assert.ok(stream.progressRequests >= 3);
});

test('a progress mark below what is current is not enough', async (context) => {
  const etcd = await ScriptedEtcd.start(context);
  const store = await openScripted(context, etcd);
  const watch = store.watch({ prefix: '' });
  const stream = await etcd.nextWatch();
  etcd.revision = 20;
  etcd.onProgressRequest = () => stream.send({ header: { revision: Math.min(20, 15 + stream.progressRequests) } });
  watch.requestProgress();
  assert.deepEqual(await read(watch, 1), ['20:']);
});

test('a watch begins behind everything that this process knows of', async (context) => {
  const etcd = await ScriptedEtcd.start(context);
  const store = await openScripted(context, etcd);
  const early = store.watch({ prefix: '' });
  const stream = await etcd.nextWatch();
  etcd.revision = 12;
  await store.revision();
  const late = store.watch({ prefix: '' });
  stream.send({ events: [putEvent('/a', 11), putEvent('/b', 12), putEvent('/c', 13)] });
  assert.deepEqual(await read(early, 3), ['11:/a', '12:/b', '13:/c']);
  assert.deepEqual(await read(late, 1), ['13:/c']);
});

test('credentials that are refused end every watch', async (context) => {
  const etcd = await ScriptedEtcd.start(context);
  const store = await openScripted(context, etcd);
  const watch = store.watch({ prefix: '' });
  const stream = await etcd.nextWatch();
  const reason = 'rpc error: code = PermissionDenied desc = etcdserver: permission denied';
  stream.send({ created: true, canceled: true, cancel_reason: reason });
  assert.equal(await codeOf(watch.next()), 'Unauthenticated');
  const again = store.watch({ prefix: '' });
  (await etcd.nextWatch()).send({ events: [putEvent('/a', 11)] });
  assert.deepEqual(await read(again, 1), ['11:/a'], 'permission may come back');
});

test('a watch from the past reads it from etcd, then joins the shared one', async (context) => {
  const etcd = await ScriptedEtcd.start(context);
  const store = await openScripted(context, etcd, { prefix: '/r/' });
  const watch = store.watch({ prefix: '/r/a', fromRevision: 3 as Revision, previous: true });
  const shared = await etcd.nextWatch();
  const reading = read(watch, 3);
  const past = await etcd.nextWatch();
  assert.deepEqual(
    [past.create.key, past.create.range_end, past.create.start_revision, past.create.prev_kv],
    ['/r/a', '/r/b', '3', true],
  );
  past.send({ events: [putEvent('/r/a', 3), putEvent('/r/a', 9, { created: 3, previous: 'x' })] });
  shared.send({ events: [putEvent('/r/a', 11)] });
  assert.deepEqual(await reading, ['3:/r/a', '9:/r/a', '11:/r/a']);
});

test('a history that breaks off is read again', async (context) => {
  const etcd = await ScriptedEtcd.start(context);
  const store = await openScripted(context, etcd);
  const watch = store.watch({ prefix: '', fromRevision: 3 as Revision });
  await etcd.nextWatch();
  const reading = read(watch, 1);
  const broken = await etcd.nextWatch();
  broken.call.cut();
  const again = await etcd.nextWatch();
  assert.equal(again.create.start_revision, '3');
  again.send({ events: [putEvent('/a', 4)] });
  assert.deepEqual(await reading, ['4:/a']);
});

test('a history that is gone ends the watch with where it begins', async (context) => {
  const etcd = await ScriptedEtcd.start(context);
  const store = await openScripted(context, etcd);
  const watch = store.watch({ prefix: '', fromRevision: 3 as Revision });
  await etcd.nextWatch();
  const next = watch.next();
  (await etcd.nextWatch()).send({ canceled: true, compact_revision: 7 });
  await assert.rejects(next, { code: 'Compacted', compactedRevision: 7 });
});

test('what came a moment ago is read from memory', async (context) => {
  const etcd = await ScriptedEtcd.start(context);
  const store = await openScripted(context, etcd);
  const live = store.watch({ prefix: '' });
  const shared = await etcd.nextWatch();
  shared.send({ events: [putEvent('/a', 11), putEvent('/b', 12)] });
  await read(live, 2);
  assert.deepEqual(await read(store.watch({ prefix: '', fromRevision: 11 as Revision }), 2), ['11:/a', '12:/b']);
  assert.equal(etcd.calls.filter((call) => call === 'Watch').length, 1);
});

test('closing ends the stream, the watches and whoever waits for progress', async (context) => {
  const etcd = await ScriptedEtcd.start(context);
  etcd.onProgressRequest = () => {};
  const store = await openScripted(context, etcd);
  const watch = store.watch({ prefix: '' });
  const stream = await etcd.nextWatch();
  etcd.revision = 20;
  watch.requestProgress();
  const next = codeOf(watch.next());
  const ended = new Promise((resolve) => stream.call.stream.once('close', resolve));
  await store.close();
  assert.equal(await next, 'Closed');
  await ended;
  assert.equal(await codeOf(store.watch({ prefix: '' }).next()), 'Closed');
});
