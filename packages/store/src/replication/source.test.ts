import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Revision, Store, Write } from '../contract.ts';
import { MemoryWorld, put } from '../drivers/memory/testing.ts';
import { BaseLayer } from '../layered/base-layer.ts';
import { layeredStore } from '../layered/layered-store.ts';
import type { ReplicaFrame } from './frames.ts';
import { replicaFrames } from './source.ts';
import type { ReplicaSourceOptions } from './source.ts';

const prefix = '/t/';

/** Runs `work` with a store and its frames, in virtual time. */
function withFrames(
  options: Partial<ReplicaSourceOptions>,
  prepare: (store: Store) => Promise<Store | void>,
  work: (stream: AsyncGenerator<ReplicaFrame, void, void>, store: Store, stop: () => void) => Promise<void>,
): Promise<void> {
  const world = new MemoryWorld(1);
  return world.withStore(async (store) => {
    const view = (await prepare(store)) ?? store;
    const stopping = new AbortController();
    const { signal } = stopping;
    const stream = replicaFrames(view, { prefix, signal, clock: world.scheduler, ...options });
    await work(stream, view, () => stopping.abort());
    await stream.return();
  });
}

async function next(stream: AsyncGenerator<ReplicaFrame, void, void>): Promise<ReplicaFrame> {
  const { done, value } = await stream.next();
  assert.ok(!done, 'the stream has ended');
  return value;
}

/** Reads frames up to one of this type. */
async function upTo(stream: AsyncGenerator<ReplicaFrame, void, void>, type: ReplicaFrame['type']): Promise<string[]> {
  const lines: string[] = [];
  for (;;) {
    const frame = await next(stream);
    lines.push(describe(frame));
    if (frame.type === type) return lines;
  }
}

function describe(frame: ReplicaFrame): string {
  const after = 'after' in frame ? `${frame.after}→` : '';
  switch (frame.type) {
    case 'entry':
      return `entry ${frame.entry.key}@${frame.entry.modRevision} ${frame.place?.index} of ${frame.place?.snapshot}`;
    case 'snapshot':
      return `snapshot ${frame.revision} of ${frame.entries}`;
    case 'progress':
      return `progress ${after}${frame.revision}`;
    case 'batch':
      return `batch ${after}${frame.revision} ${[...frame.puts.map(({ key }) => key), ...frame.deletes.map((key) => `-${key}`)].join()}`;
  }
}

const commit = (store: Store, ...writes: Write[]): Promise<unknown> => store.commit(writes);

test('a stream is a snapshot, then every transaction in order', () =>
  withFrames(
    {},
    async (store) => {
      await commit(store, put('/t/b', '1'));
      await commit(store, put('/t/a', '1'), put('/other', '1'));
    },
    async (stream, store) => {
      assert.deepEqual(await upTo(stream, 'snapshot'), ['entry a@3 0 of 3', 'entry b@2 1 of 3', 'snapshot 3 of 2']);
      await commit(store, put('/t/c', '1'), { type: 'delete', key: '/t/a' });
      await commit(store, put('/other', '2'));
      await commit(store, { type: 'deleteRange', range: { start: '/t/', end: '/t0' } });
      const changes = [...(await upTo(stream, 'batch')), ...(await upTo(stream, 'batch'))];
      assert.deepEqual(
        changes.filter((line) => line.startsWith('batch')).map((line) => line.replace(/\d+→/, '')),
        ['batch 5 c,-a', 'batch 8 -b,-c'],
      );
    },
  ));

test('each frame names the revision of the frame before it', () =>
  withFrames(
    {},
    async (store) => {
      await commit(store, put('/t/a', '1'));
    },
    async (stream, store) => {
      await upTo(stream, 'snapshot');
      let after: Revision | undefined = 2 as Revision;
      for (let at = 0; at < 20; at++) {
        await commit(store, put(at % 3 === 0 ? '/other' : '/t/a', String(at)));
        const frame = await next(stream);
        assert.ok('after' in frame && frame.after === after && frame.revision >= after, describe(frame));
        after = frame.revision;
      }
    },
  ));

test('progress is sent every second while the range is idle, and covers the writes of others', () =>
  withFrames(
    {},
    async (store) => {
      await commit(store, put('/t/a', '1'));
    },
    async (stream, store) => {
      await upTo(stream, 'snapshot');
      assert.deepEqual(await upTo(stream, 'progress'), ['progress 2→2']);
      await commit(store, put('/other', '1'));
      assert.deepEqual(await upTo(stream, 'progress'), ['progress 2→3']);
      assert.deepEqual(await upTo(stream, 'progress'), ['progress 3→3']);
    },
  ));

test('a snapshot is of one revision, and changes during it follow', () =>
  withFrames(
    { pageBytesMax: 1 },
    async (store) => {
      for (let at = 10; at < 40; at++) await commit(store, put(`/t/${at}`, 'x'));
    },
    async (stream, store) => {
      await next(stream);
      await commit(store, { type: 'deleteRange', range: { start: '/t/', end: '/t0' } });
      const lines = await upTo(stream, 'batch');
      assert.equal(lines[28], 'entry 39@31 29 of 31');
      assert.equal(lines[29], 'snapshot 31 of 30');
      assert.match(lines.at(-1)!, /^batch 31→\d+ -10,-11,/);
    },
  ));

test('a compaction during a snapshot ends the stream with Compacted', () =>
  withFrames(
    { pageBytesMax: 1 },
    async (store) => {
      for (let at = 10; at < 60; at++) await commit(store, put(`/t/${at}`, 'x'));
    },
    async (stream, store) => {
      await next(stream);
      await commit(store, put('/t/10', 'y'));
      await store.compact(await store.revision());
      await assert.rejects(upTo(stream, 'snapshot'), { code: 'Compacted' });
    },
  ));

test('a stream after a revision has no snapshot', () =>
  withFrames(
    { after: 2 as Revision },
    async (store) => {
      for (const key of ['/t/a', '/t/b', '/t/c']) await commit(store, put(key, '1'));
    },
    async (stream) => {
      assert.deepEqual(
        [...(await upTo(stream, 'batch')), ...(await upTo(stream, 'batch'))].filter((line) => line.startsWith('batch')),
        ['batch 2→3 b', 'batch 3→4 c'],
      );
    },
  ));

test('omitted keys are in no frame', () =>
  withFrames(
    { omits: (key) => key.startsWith('x') },
    async (store) => {
      await commit(store, put('/t/a', '1'), put('/t/x', '1'));
    },
    async (stream, store) => {
      assert.deepEqual(await upTo(stream, 'snapshot'), ['entry a@2 0 of 2', 'snapshot 2 of 1']);
      await commit(store, put('/t/x', '2'));
      await commit(store, put('/t/x2', '2'), { type: 'delete', key: '/t/a' }, { type: 'delete', key: '/t/x' });
      const changes = await upTo(stream, 'batch');
      assert.match(changes.at(-1)!, /-a$/);
      assert.equal(changes.filter((line) => line.startsWith('batch')).length, 1);
    },
  ));

test('an abort ends the stream in the snapshot and while it waits', async () => {
  for (const type of ['entry', 'snapshot', 'progress'] as const) {
    await withFrames(
      { pageBytesMax: 1 },
      async (store) => {
        for (let at = 10; at < 60; at++) await commit(store, put(`/t/${at}`, 'x'));
      },
      async (stream, _, stop) => {
        await upTo(stream, type);
        stop();
        const rest = await Array.fromAsync(stream);
        assert.ok(rest.every((frame) => frame.type === 'entry') && rest.length < 50);
      },
    );
  }
});

test('entries with a lease carry its id and remaining time', () => {
  const world = new MemoryWorld(2);
  return world.withStore(async (store) => {
    const lease = await store.grantLease(60_000);
    await commit(store, put('/t/a', '1', lease.id), put('/t/b', '1'));
    await new Promise<void>((resolve) => world.scheduler.after(20_000, resolve));
    const { signal } = new AbortController();
    const stream = replicaFrames(store, { prefix, signal, clock: world.scheduler });
    const [first, second] = [await next(stream), await next(stream)];
    assert.ok(first.type === 'entry' && first.entry.lease?.id === lease.id);
    assert.ok(first.entry.lease.ttlMs > 39_000 && first.entry.lease.ttlMs <= 40_000, `${first.entry.lease.ttlMs}`);
    assert.ok(second.type === 'entry' && second.entry.lease === undefined);
    await upTo(stream, 'snapshot');
    await commit(store, put('/t/c', '1', lease.id));
    let frame = await next(stream);
    while (frame.type === 'progress') frame = await next(stream);
    assert.ok(frame.type === 'batch' && frame.puts[0]!.lease!.ttlMs > 39_000);
    await stream.return();
  });
});

test('the frames of a layered view include the base and not its tombstones', () => {
  const base = new BaseLayer([
    { key: 'base', value: Buffer.from('base') },
    { key: 'deleted', value: Buffer.from('base') },
  ]);
  return withFrames(
    {},
    async (store) => {
      await commit(store, put('/other', '1'));
      const view = layeredStore({ store, prefix, base, baseRevision: 2 as Revision });
      await commit(view, { type: 'delete', key: '/t/deleted' });
      return view;
    },
    async (stream, view) => {
      assert.deepEqual(await upTo(stream, 'snapshot'), ['entry base@2 0 of 3', 'snapshot 3 of 1']);
      await commit(view, { type: 'delete', key: '/t/base' });
      await commit(view, put('/t/deleted', 'again'));
      const changes = [...(await upTo(stream, 'batch')), ...(await upTo(stream, 'batch'))];
      assert.deepEqual(
        changes.filter((line) => line.startsWith('batch')).map((line) => line.replace(/^batch \S+ /, '')),
        ['-base', 'deleted'],
      );
    },
  );
});
