import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '@hangar/core';
import type { Revision } from '../contract.ts';
import { valueBytesMax } from '../limits.ts';
import { decodeFrames, encodeFrames, encodeRequest } from './format.ts';
import type { ReplicaFrame } from './frames.ts';
import { inChunks, randomFrames } from './testing.ts';

async function* only(...chunks: Uint8Array[]): AsyncGenerator<Uint8Array, void, void> {
  yield* chunks;
}

const decoded = (bytes: Uint8Array, complete = true): Promise<ReplicaFrame[]> =>
  Array.fromAsync(decodeFrames(only(bytes), { complete }));

const revision = (number: number): Revision => number as Revision;

test('frames are the same after encoding and decoding in chunks of any size', async () => {
  for (let seed = 0; seed < 50; seed++) {
    const random = seededRandom(seed);
    const frames = randomFrames(random);
    const bytes = Buffer.concat(await Array.fromAsync(encodeFrames(frames)));
    assert.ok(bytes.equals(encodeRequest(frames)));
    const received = await Array.fromAsync(decodeFrames(inChunks(random, bytes), { complete: true }));
    assert.deepEqual(received, frames);
  }
});

test('frames without a place in their stream are the same after decoding', async () => {
  const entry = {
    key: 'a',
    value: new Uint8Array(),
    createRevision: revision(1),
    modRevision: revision(2),
    version: 2,
  };
  const frames: ReplicaFrame[] = [
    { type: 'entry', entry },
    { type: 'snapshot', revision: revision(2) },
    { type: 'batch', revision: revision(3), puts: [], deletes: ['a'] },
    { type: 'progress', revision: revision(4) },
  ];
  assert.deepEqual(await decoded(encodeRequest(frames)), frames);
});

test('a batch that is longer than one frame arrives as one batch', async () => {
  const entry = { createRevision: revision(7), modRevision: revision(7), version: 1 };
  const puts = ['a', 'b', 'c'].map((key) => ({ ...entry, key, value: new Uint8Array(valueBytesMax).fill(1) }));
  const deletes = Array.from({ length: 20_000 }, (_, at) => `configmaps/default/name-of-an-object-${at}`);
  const batch: ReplicaFrame = { type: 'batch', revision: revision(7), after: revision(5), puts, deletes };
  const chunks = await Array.fromAsync(encodeFrames([batch]));
  assert.ok(chunks.length > 5);
  assert.deepEqual(await decoded(Buffer.concat(chunks)), [batch]);
  const cut = Buffer.concat(chunks.slice(0, 3));
  await assert.rejects(decoded(cut, false), { code: 'ImportFailed' });
});

test('a request without its end frame is refused, and a stream that follows is not', async () => {
  const frames = randomFrames(seededRandom(4));
  const chunks = await Array.fromAsync(encodeFrames(frames));
  const cut = Buffer.concat(chunks.slice(0, -1));
  await assert.rejects(decoded(cut), { code: 'ImportFailed' });
  assert.deepEqual(await decoded(cut, false), frames);
  await assert.rejects(decoded(cut.subarray(0, -1), false), { code: 'ImportFailed' });
  await assert.rejects(decoded(Buffer.concat([...chunks, Buffer.of(0)]), false), { code: 'ImportFailed' });
});

test('a lost, repeated or moved frame is refused', async () => {
  const [magic, ...frames] = await Array.fromAsync(
    encodeFrames([
      { type: 'snapshot', revision: revision(5), entries: 0 },
      { type: 'progress', revision: revision(6), after: revision(5) },
      { type: 'progress', revision: revision(7), after: revision(6) },
    ]),
  );
  const [a, b, c, end] = frames as [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
  for (const order of [[a, c, end], [b, a, c, end], [a, a, b, c, end], [a, b, end], [end]]) {
    await assert.rejects(decoded(Buffer.concat([magic!, ...order])), { code: 'ImportFailed' });
  }
});

test('a frame that claims to be too long is refused before its bytes arrive', async () => {
  const bytes = encodeRequest([{ type: 'progress', revision: revision(6) }]);
  bytes.writeUInt32LE(2 ** 31, 17);
  await assert.rejects(decoded(bytes), /frame of 2147483648 bytes is too long/);
});

test('a stream that is left before its end releases its source', async () => {
  let released = false;
  async function* source(): AsyncGenerator<Uint8Array, void, void> {
    try {
      yield encodeRequest([{ type: 'progress', revision: revision(6) }]).subarray(0, -4);
      await new Promise(() => {});
    } finally {
      released = true;
    }
  }
  for await (const frame of decodeFrames(source(), { complete: false })) {
    assert.equal(frame.type, 'progress');
    break;
  }
  assert.ok(released);
});
