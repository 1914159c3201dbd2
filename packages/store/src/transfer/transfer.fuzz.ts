/**
 * Damaged export streams. An import results in exactly the exported entries, or in `ImportFailed` and an empty range. Streams with forged
 * checksums may hold anything that is allowed in a store, and nothing else.
 */

import assert from 'node:assert/strict';
import { chance, pick } from '@hangar/core';
import type { Random } from '@hangar/core';
import { openMemoryStore } from '../drivers/memory/memory-store.ts';
import { StoreError } from '../errors.ts';
import { damage } from '@hangar/core/testing';
import { hostileText } from '../fuzzing/hostile.ts';
import { prefixRange } from '../keys.ts';
import { encodeEntries } from './format.ts';
import type { TransferEntry } from './format.ts';
import { importRange } from './transfer.ts';

const prefix = '/target/';

export async function fuzz(random: Random): Promise<void> {
  const hostile = chance(random, 0.3);
  const entries = Array.from({ length: random.below(8) }, (_, at): TransferEntry => {
    // A stream holds only UTF-8.
    const key = hostile ? hostileText(random).toWellFormed() : `key${at}/${random.below(10)}`;
    return { key, value: random.bytes(random.below(pick(random, [3, 300]))) };
  });
  const stream = Buffer.concat(await Array.fromAsync(encodeEntries(each(entries))));
  const sent = chance(random, 0.15) ? stream : damage(random, stream);
  const store = await openMemoryStore();
  try {
    await importRange(store, inChunks(random, sent), { prefix });
    const { entries: imported } = await store.range(prefixRange(prefix));
    assert.ok(stream.equals(sent), 'a damaged stream was imported');
    const expected = new Map(entries.map(({ key, value }) => [prefix + key, Buffer.from(value).toString('hex')]));
    const actual = new Map(imported.map(({ key, value }) => [key, Buffer.from(value).toString('hex')]));
    assert.deepEqual(new Map([...actual].sort()), new Map([...expected].sort()));
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'ImportFailed') throw error;
    assert.ok(hostile || !stream.equals(sent), `a whole stream is refused: ${error.message}`);
    assert.equal((await store.range(prefixRange(prefix))).entries.length, 0, 'a part of it is left');
  } finally {
    await store.close();
  }
}

async function* each<T>(items: readonly T[]): AsyncGenerator<T, void, void> {
  yield* items;
}

async function* inChunks(random: Random, bytes: Uint8Array): AsyncGenerator<Uint8Array, void, void> {
  for (let at = 0; at < bytes.length;) {
    const length = random.below(pick(random, [2, 30, 4_000]));
    yield bytes.subarray(at, at + length);
    at += length;
  }
}
