/** A full, read-only or failing disk: typed errors, reads continue, and no acknowledged write is lost. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Disk, DiskFile } from '@hangar/core';
import type { Revision, Store } from '../../contract.ts';
import { openMemoryStore } from './memory-store.ts';
import { checkHistory, contents, MemoryWorld, outcomeOf, PairLedger, put } from './testing.ts';

/** A mix of all operations that touch the disk. Each pair is certain or uncertain afterwards, never wrong. */
async function work(store: Store, ledger: PairLedger): Promise<Set<string>> {
  const outcomes = new Set<string>();
  const attempt = async (action: () => Promise<unknown>) => outcomes.add(await outcomeOf(action()));
  for (let round = 0; round < 4; round++) {
    await attempt(() => ledger.write(store, `${round}/one`));
    await Promise.all([
      attempt(() => ledger.write(store, `${round}/two`)),
      attempt(() => ledger.write(store, `${round}/three`)),
    ]);
    for (const name of ledger.present().slice(0, 1)) await attempt(() => ledger.delete(store, name));
    await attempt(async () => {
      const { id } = await store.grantLease(3_600_000);
      await ledger.write(store, `${round}/leased`, id);
      await ledger.deleteBy(`${round}/leased`, () => store.revokeLease(id));
    });
    await attempt(async () => store.compact(((await store.revision()) - 3) as Revision));
  }
  return outcomes;
}

/** Number of disk calls to open, work and close. */
async function callsOfWork(journalBytesMin: number): Promise<number> {
  const world = new MemoryWorld(7, { journalBytesMin });
  const ledger = new PairLedger();
  await world.withStore((store) => work(store, ledger));
  return world.disk.calls;
}

describe('a disk without space', () => {
  test('refuses writes with StorageFull, goes on reading, and recovers when space returns', async () => {
    const world = new MemoryWorld(1);
    await world.withStore(async (store) => {
      await store.commit([put('a', 'before')]);
      const before = await contents(store);
      const watch = store.watch({ prefix: '' });
      world.disk.capacityBytes = world.journal().length + 10;
      for (let attempt = 0; attempt < 3; attempt++) {
        assert.equal(await outcomeOf(store.commit([put('a', 'during'), put('b', 'during')])), 'StorageFull');
        assert.equal(await outcomeOf(store.grantLease(5_000)), 'StorageFull');
        assert.deepEqual(await contents(store), before);
        await checkHistory(store);
      }
      world.disk.capacityBytes = Infinity;
      const { revision } = await store.commit([put('a', 'after')]);
      const batch = await watch.next();
      assert.equal(batch?.revision, revision, 'the watch shows nothing of what was refused');
    });
    const after = await world.withStore(contents);
    assert.equal(after.length, 1);
    assert.match(after[0]!, /^a=after@/);
  });

  test('refuses all commits of a group that does not fit, and keeps none of them', async () => {
    const world = new MemoryWorld(2);
    await world.withStore(async (store) => {
      await store.commit([put('a', 'x')]);
      world.disk.capacityBytes = world.journal().length + 400;
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, at) => outcomeOf(store.commit([put(`k${at}`, 'x'.repeat(100))]))),
      );
      assert.deepEqual(new Set(outcomes), new Set(['StorageFull']));
      assert.equal(await outcomeOf(store.commit([put('small', '')])), 'acknowledged');
    });
    world.crash();
    const after = await world.withStore(contents);
    assert.deepEqual(
      after.map((line) => line.split('=')[0]),
      ['a', 'small'],
    );
  });

  test('does not keep a rewrite of the journal from failing quietly', async () => {
    const world = new MemoryWorld(3, { journalBytesMin: 1_000 });
    const ledger = new PairLedger();
    await world.withStore(async (store) => {
      world.disk.capacityBytes = 2_500;
      for (let at = 0; at < 100; at++) {
        const name = String(at);
        const outcome = await outcomeOf(ledger.write(store, name));
        if (outcome === 'acknowledged') continue;
        assert.equal(outcome, 'StorageFull');
        ledger.refused(name, 'absent');
        break;
      }
      assert.ok(ledger.present().length > 5);
      await ledger.check(store);
    });
    world.crash();
    await world.withStore((store) => ledger.check(store));
  });

  test('keeps a lease that ends until it can be ended', async () => {
    const world = new MemoryWorld(4);
    await world.withStore(async (store) => {
      const { id } = await store.grantLease(2_000);
      await store.commit([{ type: 'put', key: 'a', value: new Uint8Array(), lease: id }]);
      world.disk.capacityBytes = 0;
      await advance(world, 10_000);
      assert.equal((await contents(store)).length, 1);
      world.disk.capacityBytes = Infinity;
      await advance(world, 5_000);
      assert.deepEqual(await contents(store), []);
    });
  });

  test('does not shorten a lease that is renewed once there is space again', async () => {
    const world = new MemoryWorld(5);
    await world.withStore(async (store) => {
      const { id } = await store.grantLease(60_000);
      await store.commit([{ type: 'put', key: 'a', value: new Uint8Array(), lease: id }]);
      world.disk.capacityBytes = 0;
      await advance(world, 60_500);
      world.disk.capacityBytes = Infinity;
      const renewal = await outcomeOf(store.renewLease(id));
      await advance(world, 30_000);
      const kept = (await contents(store)).length === 1;
      assert.deepEqual([renewal, kept], renewal === 'acknowledged' ? ['acknowledged', true] : ['LeaseNotFound', false]);
    });
  });
});

describe('a read-only disk', () => {
  test('refuses writes with StorageReadOnly, goes on reading, and recovers', async () => {
    const world = new MemoryWorld(1);
    await world.withStore(async (store) => {
      await store.commit([put('a', 'before')]);
      const before = await contents(store);
      world.disk.readOnly = true;
      assert.equal(await outcomeOf(store.commit([put('a', 'during')])), 'StorageReadOnly');
      assert.equal(await outcomeOf(store.compact(await store.revision())), 'StorageReadOnly');
      assert.deepEqual(await contents(store), before);
      world.disk.readOnly = false;
      await store.commit([put('a', 'after')]);
    });
    assert.match((await world.withStore(contents))[0]!, /^a=after@/);
  });

  test('still opens what was stored', async () => {
    const world = new MemoryWorld(2);
    await world.withStore((store) => store.commit([put('a', '1')]));
    world.disk.readOnly = true;
    await world.withStore(async (store) => {
      assert.equal((await contents(store)).length, 1);
      assert.equal(await outcomeOf(store.commit([put('a', '2')])), 'StorageReadOnly');
    });
  });

  test('cannot begin a new store, and says so', async () => {
    const world = new MemoryWorld(3);
    world.disk.readOnly = true;
    assert.equal(await outcomeOf(world.withStore(contents)), 'StorageReadOnly');
  });
});

describe('every disk call fails once', () => {
  const journals = { 'a journal that grows': 1_000_000, 'a journal that is rewritten': 300 };
  for (const [title, journalBytesMin] of Object.entries(journals)) {
    for (const crash of [false, true]) {
      test(`${title}, then a ${crash ? 'crash' : 'restart'}: consistent each time`, async () => {
        const calls = await callsOfWork(journalBytesMin);
        assert.ok(calls > 30, `${calls} calls`);
        for (let n = 1; n <= calls; n++) {
          const world = new MemoryWorld(7, { journalBytesMin });
          const ledger = new PairLedger();
          world.disk.failCall(n, 'EIO');
          try {
            const outcome = await outcomeOf(
              world.withStore(async (store) => {
                const outcomes = await work(store, ledger);
                for (const code of outcomes) assert.ok(['acknowledged', 'StorageFailed'].includes(code), code);
                assert.equal(await outcomeOf(ledger.write(store, 'at last')), 'acknowledged', 'it did not recover');
                await checkHistory(store);
              }),
            );
            assert.ok(['acknowledged', 'StorageFailed'].includes(outcome), outcome);
            if (crash) world.crash();
            await world.withStore(async (store) => {
              await ledger.check(store);
              await ledger.write(store, 'afterwards');
            });
            world.crash();
            await world.withStore((store) => ledger.check(store));
          } catch (error) {
            throw new Error(`call ${n} of ${calls}`, { cause: error });
          }
        }
      });
    }
  }
});

describe('a disk that does half of what it was told', () => {
  test('a write that stops in the middle leaves nothing behind', async () => {
    const world = new MemoryWorld(1);
    const faulty = { writesLeft: Infinity };
    const disk = withFile(world.disk, (file) => ({
      ...file,
      async write(offset, bytes) {
        if (faulty.writesLeft-- > 0) return file.write(offset, bytes);
        await file.write(offset, bytes.subarray(0, bytes.length / 2));
        throw Object.assign(new Error('ENOSPC: half written'), { code: 'ENOSPC' });
      },
    }));
    const ledger = new PairLedger();
    await world.run(async () => {
      const store = await openMemoryStore({ clock: world.scheduler, random: world.random, disk });
      for (let at = 0; at < 10; at++) {
        faulty.writesLeft = 0;
        assert.equal(await outcomeOf(ledger.write(store, `half ${at}`)), 'StorageFull');
        ledger.refused(`half ${at}`, 'absent');
        faulty.writesLeft = Infinity;
        await ledger.write(store, `whole ${at}`);
      }
      await store.close();
    });
    await world.withStore((store) => ledger.check(store));
  });

  test('a file that cannot be closed does not lose what is written after a rewrite', async () => {
    const world = new MemoryWorld(2);
    const disk = withFile(world.disk, (file) => ({
      ...file,
      close: () => Promise.reject(Object.assign(new Error('EIO: close'), { code: 'EIO' })),
    }));
    const ledger = new PairLedger();
    await world.run(async () => {
      const options = { clock: world.scheduler, random: world.random, disk, journalBytesMin: 300 };
      const store = await openMemoryStore(options);
      for (let at = 0; at < 30; at++) await ledger.write(store, String(at));
      await outcomeOf(store.close());
    });
    await world.withStore((store) => ledger.check(store));
  });

  test('a compaction that failed leaves a journal that can be rewritten', async () => {
    const world = new MemoryWorld(3, { journalBytesMin: 2_000 });
    const ledger = new PairLedger();
    const before = await world.withStore(async (store) => {
      for (let round = 0; round < 3; round++) {
        for (let at = 0; at < 5; at++) await ledger.write(store, String(at));
      }
      const current = await store.revision();
      // The compaction itself is written; removing the obsolete rows fails and is undone.
      world.disk.failCall(world.disk.calls + 3, 'EIO');
      await store.compact(current);
      for (let at = 0; at < 30; at++) await ledger.write(store, `more ${at}`);
      return contents(store);
    });
    await world.withStore(async (store) => {
      assert.deepEqual(await contents(store), before);
      await ledger.check(store);
    });
  });
});

/** Advances virtual time inside `run`, which moves it itself. */
function advance(world: MemoryWorld, durationMs: number): Promise<void> {
  return new Promise((resolve) => world.scheduler.after(durationMs, resolve));
}

function withFile(disk: Disk, change: (file: DiskFile) => DiskFile): Disk {
  return {
    open: async (path, options) => change(await disk.open(path, options)),
    list: (directory) => disk.list(directory),
    rename: (from, to) => disk.rename(from, to),
    remove: (path) => disk.remove(path),
    syncDirectory: (directory) => disk.syncDirectory(directory),
  };
}
