import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ChunkReader } from './chunk-reader.ts';

async function* inPieces(...pieces: readonly string[]): AsyncGenerator<Uint8Array, void, void> {
  for (const piece of pieces) yield Buffer.from(piece);
}

describe('a reader of chunks', () => {
  test('returns pieces across chunks', async () => {
    const reader = new ChunkReader(inPieces('ab', '', 'cde', 'f'));
    assert.equal(String(await reader.take(1)), 'a');
    assert.equal(String(await reader.take(3)), 'bcd');
    assert.equal(String(await reader.take(0)), '');
    assert.equal(await reader.isEmpty(), false);
    assert.equal(String(await reader.take(2)), 'ef');
    assert.equal(await reader.isEmpty(), true);
    assert.equal(await reader.take(1), undefined);
  });

  test('fills a buffer across chunks', async () => {
    const reader = new ChunkReader(inPieces('ab', '', 'cde', 'f'));
    const target = Buffer.alloc(4);
    assert.equal(await reader.fill(target), true);
    assert.equal(String(target), 'abcd');
    assert.equal(String(await reader.take(1)), 'e');
    assert.equal(await reader.fill(target), false);
  });

  test('keeps the chunk that shows that more bytes follow', async () => {
    const reader = new ChunkReader(inPieces('', 'xy'));
    assert.equal(await reader.isEmpty(), false);
    assert.equal(String(await reader.take(2)), 'xy');
  });

  test('stops its source', async () => {
    const source = inPieces('a', 'b');
    const reader = new ChunkReader(source);
    await reader.take(1);
    await reader.close();
    assert.equal((await source.next()).done, true);
  });

  test('stops its source when a stream that reads from it is returned before its first value', async () => {
    const source = inPieces('a', 'b');
    const reader = new ChunkReader(source);
    await reader.take(1);
    const stream = (async function* () {
      yield await reader.take(1);
    })();
    await reader.closedBy(stream).return();
    assert.equal((await source.next()).done, true);
  });
});
