import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Revision, Store } from '../contract.ts';
import { openMemoryStore } from '../drivers/memory/memory-store.ts';
import { prefixRange } from '../keys.ts';
import { readTransfer } from './format.ts';
import { exportRange, importRange } from './transfer.ts';

const source = '/registry/clusters/a/';
const target = '/registry/clusters/b/';

async function filled(entries: number, size = 10): Promise<Store> {
  const store = await openMemoryStore();
  for (let n = 0; n < entries; n++) {
    await store.commit([
      { type: 'put', key: `${source}configmaps/n-${String(n).padStart(5, '0')}`, value: Buffer.alloc(size, n) },
    ]);
  }
  return store;
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(chunks));
}

async function* inChunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array, void, void> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function contentOf(store: Store, prefix: string): Promise<[string, string][]> {
  const { entries } = await store.range(prefixRange(prefix));
  return entries.map(({ key, value }) => [key.slice(prefix.length), Buffer.from(value).toString('hex')]);
}

for (const chunkSize of [1, 7, 4096, 1_000_000]) {
  test(`a range is the same after export and import in chunks of ${chunkSize}`, async () => {
    const from = await filled(300);
    const to = await openMemoryStore();
    const stream = await collect(exportRange(from, { prefix: source }));
    const result = await importRange(to, inChunksOf(stream, chunkSize), { prefix: target });
    assert.equal(result.entries, 300);
    assert.deepEqual(await contentOf(to, target), await contentOf(from, source));
  });
}

test('values near the limit travel, a few to a transaction', async () => {
  const from = await filled(4, 1_400_000);
  await importRange(from, exportRange(from, { prefix: source }), { prefix: target });
  assert.deepEqual(await contentOf(from, target), await contentOf(from, source));
});

test('an export is of one revision, whatever is written meanwhile', async () => {
  const store = await filled(1200);
  const before = await contentOf(store, source);
  const chunks: Uint8Array[] = [];
  for await (const chunk of exportRange(store, { prefix: source })) {
    chunks.push(chunk);
    if (chunks.length === 100) await store.commit([{ type: 'deleteRange', range: prefixRange(source) }]);
  }
  await importRange(store, inChunksOf(Buffer.concat(chunks), 512), { prefix: target });
  assert.deepEqual(await contentOf(store, target), before);
});

test('an export of a compacted revision says so', async () => {
  const store = await filled(3);
  await store.compact(await store.revision());
  await assert.rejects(collect(exportRange(store, { prefix: source, atRevision: 2 as Revision })), {
    code: 'Compacted',
  });
});

test('an import into a range with keys is refused and changes nothing', async () => {
  const store = await filled(3);
  const before = await contentOf(store, source);
  await assert.rejects(importRange(store, exportRange(store, { prefix: source }), { prefix: source }), {
    code: 'ImportFailed',
  });
  assert.deepEqual(await contentOf(store, source), before);
});

test('a stream that is cut off anywhere imports nothing', async () => {
  const from = await filled(200);
  const stream = await collect(exportRange(from, { prefix: source }));
  const to = await openMemoryStore();
  for (let length = 0; length < stream.length; length += 41) {
    const cut = inChunksOf(stream.subarray(0, length), 1024);
    await assert.rejects(importRange(to, cut, { prefix: target }), { code: 'ImportFailed' }, `cut at ${length}`);
    assert.deepEqual(await contentOf(to, target), []);
  }
});

test('a stream with a flipped bit anywhere imports nothing', async () => {
  const from = await filled(150);
  const stream = await collect(exportRange(from, { prefix: source }));
  const to = await openMemoryStore();
  for (let at = 0; at < stream.length; at += 23) {
    const damaged = Buffer.from(stream);
    damaged[at]! ^= 0x10;
    await assert.rejects(
      importRange(to, inChunksOf(damaged, 4096), { prefix: target }),
      { code: 'ImportFailed' },
      `byte ${at}`,
    );
    assert.deepEqual(await contentOf(to, target), []);
  }
});

test('an end frame with surplus bytes is refused', async () => {
  const from = await filled(3);
  const chunks = await Array.fromAsync(exportRange(from, { prefix: source }));
  const stream = Buffer.concat(chunks);
  const endFrame = stream.length - chunks.at(-1)!.length;
  const longer = Buffer.concat([stream, Buffer.from([0])]);
  longer.writeUInt32LE(stream.readUInt32LE(endFrame) + 1, endFrame);
  const to = await openMemoryStore();
  await assert.rejects(importRange(to, inChunksOf(longer, 4096), { prefix: target }), { code: 'ImportFailed' });
  assert.deepEqual(await contentOf(to, target), []);
});

test('something behind the end of a stream is refused', async () => {
  const from = await filled(2);
  const stream = Buffer.concat([await collect(exportRange(from, { prefix: source })), Buffer.from('x')]);
  await assert.rejects(importRange(from, inChunksOf(stream, 100), { prefix: target }), { code: 'ImportFailed' });
  assert.deepEqual(await contentOf(from, target), []);
});

test('what the exporter says of the whole comes first, and is covered by the checksum', async () => {
  const from = await filled(3);
  const stream = await collect(exportRange(from, { prefix: source, about: Buffer.from('of a') }));
  const { about, entries } = await readTransfer(inChunksOf(stream, 7));
  assert.equal(Buffer.from(about!).toString(), 'of a');
  assert.equal((await Array.fromAsync(entries)).length, 3);
  const forged = Buffer.from(stream);
  forged.write('of b', forged.indexOf('of a'));
  const read = await readTransfer(inChunksOf(forged, 7));
  await assert.rejects(Array.fromAsync(read.entries), { code: 'ImportFailed' });
  await assert.rejects(importRange(from, inChunksOf(stream, 7), { prefix: target }), { code: 'ImportFailed' });
});

test('entries that the exporter leaves out are not in it', async () => {
  const from = await filled(40);
  const omits = (key: string): boolean => !key.endsWith('7');
  const stream = await collect(exportRange(from, { prefix: source, omits }));
  const { entries } = await readTransfer(inChunksOf(stream, 100));
  const keys = await Array.fromAsync(entries, ({ key }) => key.slice(-2));
  assert.deepEqual(keys, ['07', '17', '27', '37']);
});

test('large values are read a few at a time', async () => {
  const from = await filled(40, 1_000_000);
  const limits: number[] = [];
  const watched: Store = Object.create(from, {
    range: {
      value: (range: never, options: { limit: number }) => {
        limits.push(options.limit);
        return from.range(range, options);
      },
    },
  });
  const stream = await collect(exportRange(watched, { prefix: source }));
  assert.ok(stream.length > 40_000_000);
  assert.ok(
    limits.slice(1).every((limit) => limit === 1),
    limits.join(),
  );
});
