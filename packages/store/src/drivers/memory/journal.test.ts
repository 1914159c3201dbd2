/** The journal file: which content recovery accepts, drops and refuses. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { crc32 } from 'node:zlib';
import { sleep } from '@hangar/core';
import type { StoreError } from '../../errors.ts';
import { contents, journalPath, MemoryWorld, put } from './testing.ts';

interface Written {
  world: MemoryWorld;
  /** End of the journal after each commit. */
  ends: number[];
  /** Content of the store after each commit; the first one is the empty store. */
  states: string[][];
}

/** A journal with only a record for each of `count` commits. */
async function written(count: number, valueLength = 10): Promise<Written> {
  const world = new MemoryWorld(1);
  const ends: number[] = [];
  const states: string[][] = [];
  await world.withStore(async (store) => {
    states.push(await contents(store));
    ends.push(world.journal().length);
    for (let at = 1; at <= count; at++) {
      await store.commit([put(`k${at % 4}`, String(at).padEnd(valueLength, '.')), put('last', String(at))]);
      ends.push(world.journal().length);
      states.push(await contents(store));
    }
  });
  return { world, ends, states };
}

/** Returns the content of a store opened on these bytes, or the refusal. */
async function openOn(bytes: Uint8Array): Promise<string[] | StoreError> {
  const world = new MemoryWorld(2);
  world.disk.poke(journalPath, Uint8Array.from(bytes));
  return world.withStore(contents).catch((error: StoreError) => error);
}

function assertDamaged(result: string[] | StoreError, what: string): void {
  assert.ok(!Array.isArray(result), `${what}: opened with ${result}`);
  assert.equal(result.code, 'StorageDamaged', what);
  assert.match(result.message, /\/data\/journal/, 'it says which file');
  assert.match(result.message, /backup|move/, 'it says what to do');
}

function flipped(bytes: Uint8Array, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at]! ^= 0x55;
  return copy;
}

describe('the journal', () => {
  test('a tail that was torn at any byte is dropped, with nothing else', async () => {
    const { world, ends, states } = await written(5);
    const journal = world.journal();
    for (let length = ends[4]!; length < ends[5]!; length++) {
      assert.deepEqual(await openOn(journal.subarray(0, length)), states[4], `cut to ${length} bytes`);
    }
    assert.deepEqual(await openOn(journal), states[5]);
  });

  test('a tail of which any part was never written is dropped', async () => {
    const { world, ends, states } = await written(3, 2_000);
    const journal = world.journal();
    for (let from = ends[2]!; from < ends[3]!; from += 100) {
      const torn = Buffer.from(journal);
      torn.fill(0, from, Math.min(from + 512, torn.length));
      assert.deepEqual(await openOn(torn), states[2]);
    }
  });

  test('a dropped tail is gone for good: what is written next is read next', async () => {
    const { world, ends, states } = await written(5);
    world.disk.poke(journalPath, Uint8Array.from(world.journal().subarray(0, ends[5]! - 3)));
    await world.withStore(async (store) => {
      assert.deepEqual(await contents(store), states[4]);
      await store.commit([put('short', '')]);
    });
    world.crash();
    const after = await world.withStore(contents);
    assert.ok(after.some((line) => line.startsWith('short=')));
    assert.equal(after.length, states[4]!.length + 1);
  });

  test('a journal that ends anywhere opens with a whole beginning of the history', async () => {
    const { world, ends, states } = await written(6);
    const journal = world.journal();
    for (let length = ends[0]!; length <= journal.length; length++) {
      const whole = ends.findLastIndex((end) => end <= length);
      assert.deepEqual(await openOn(journal.subarray(0, length)), states[whole], `cut to ${length} bytes`);
    }
  });

  test('a journal that was cut within its header is refused, not taken for a new one', async () => {
    const { world } = await written(2);
    for (let length = 0; length < 8; length++) {
      assertDamaged(await openOn(world.journal().subarray(0, length)), `cut to ${length} bytes`);
    }
  });

  test('a damaged byte before the last record is refused, wherever it is', async () => {
    const { world, ends } = await written(6);
    const journal = world.journal();
    for (let at = 0; at < ends[5]!; at++) assertDamaged(await openOn(flipped(journal, at)), `byte ${at}`);
  });

  test('a damaged sector is refused, however many records it held', async () => {
    const { world, ends } = await written(60, 0);
    const journal = world.journal();
    assert.ok(ends[60]! - ends[59]! < 80, 'many small records');
    for (let from = ends[0]!; from + 512 < ends[59]!; from += 97) {
      const damaged = Buffer.from(journal);
      damaged.fill(0, from, from + 512);
      assertDamaged(await openOn(damaged), `from byte ${from}`);
    }
  });

  test('records in the wrong order, missing or repeated are refused', async () => {
    const { world, ends } = await written(5);
    const journal = world.journal();
    const record = (at: number) => journal.subarray(ends[at - 1], ends[at]);
    const header = journal.subarray(0, ends[0]);
    const orders = { missing: [1, 3, 4, 5], swapped: [1, 3, 2, 4, 5], 'first one missing': [2, 3, 4, 5] };
    for (const [what, order] of Object.entries(orders)) {
      assertDamaged(await openOn(Buffer.concat([header, ...order.map(record)])), what);
    }
    const repeated = [1, 2, 2, 3, 4, 5].map(record);
    assertDamaged(await openOn(Buffer.concat([header, ...repeated])), 'repeated');
  });

  test('a file of something else is refused', async () => {
    assertDamaged(await openOn(Buffer.alloc(4_096, 'garbage ')), 'text');
    assertDamaged(await openOn(Buffer.alloc(4_096)), 'zeros');
    assertDamaged(await openOn(Buffer.from('SQLite format 3\0')), 'another format');
    assertDamaged(await openOn(Buffer.from('X')), 'one byte');
  });

  test('a whole record of nonsense is refused with the name of the file', async () => {
    const payload = Buffer.from([0, 0, 0, 0, 99, 1, 2, 3]);
    const record = Buffer.alloc(8);
    record.writeUInt32LE(payload.length - 4, 0);
    record.writeUInt32LE(crc32(payload), 4);
    assertDamaged(await openOn(Buffer.concat([Buffer.from('HANGAR1\n'), record, payload])), 'unknown change');
  });

  test('refusing leaves the file as it was', async () => {
    const { world, ends } = await written(4);
    const damaged = flipped(world.journal(), ends[1]! + 20);
    const other = new MemoryWorld(3);
    other.disk.poke(journalPath, Uint8Array.from(damaged));
    for (let attempt = 0; attempt < 2; attempt++) {
      await assert.rejects(other.withStore(contents), { code: 'StorageDamaged' });
      assert.deepEqual(other.journal(), damaged);
    }
  });

  test('an unfinished rewrite beside the journal does not disturb it', async () => {
    const { world, states } = await written(4);
    world.disk.poke(`${journalPath}.next`, Buffer.from('half a rew'));
    assert.deepEqual(await world.withStore(contents), states[4]);
  });

  test('opening a store that has nothing to do writes nothing', async () => {
    const { world } = await written(4);
    await world.withStore(async (store) => store.compact(await store.revision()));
    const before = world.journal();
    for (let again = 0; again < 3; again++) {
      await world.withStore(async (store) => {
        await contents(store);
        // Not `advance`: `withStore` moves the time already.
        await sleep(world.scheduler, 10);
      });
    }
    assert.equal(world.journal().length, before.length);
  });
});
