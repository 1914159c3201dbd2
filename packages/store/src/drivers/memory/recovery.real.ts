/** Crashes at random moments: acknowledged transactions exist afterwards, others exist whole or not at all. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chance, pick, sleep } from '@hangar/core';
import type { Revision, Store } from '../../contract.ts';
import { MemoryWorld, PairLedger, outcomeOf } from './testing.ts';

const seeds = 30;
const livesPerSeed = 5;
const writersPerLife = 4;

/** One client: writes, deletes, leases and compacts until the disk fails. */
async function workUntilCrash(
  world: MemoryWorld,
  store: Store,
  ledger: PairLedger,
  names: () => string,
): Promise<void> {
  for (;;) {
    const outcome = await outcomeOf(step(world, store, ledger, names));
    if (outcome === 'StorageFailed') return;
    assert.equal(outcome, 'acknowledged');
  }
}

async function step(world: MemoryWorld, store: Store, ledger: PairLedger, names: () => string): Promise<void> {
  const { random } = world;
  const present = ledger.present();
  if (present.length > 5 && chance(random, 0.4)) return ledger.delete(store, pick(random, present));
  if (chance(random, 0.1)) {
    const { id } = await store.grantLease(3_600_000);
    const name = names();
    await ledger.write(store, name, id);
    return ledger.deleteBy(name, () => store.revokeLease(id));
  }
  if (chance(random, 0.1)) {
    const newest = await store.revision();
    return store.compact(Math.max(1, newest - random.below(20)) as Revision);
  }
  return ledger.write(store, names());
}

async function oneLife(world: MemoryWorld, ledger: PairLedger, names: () => string): Promise<void> {
  await world.run(async () => {
    const store = await world.open();
    await ledger.check(store);
    const writers = Array.from({ length: writersPerLife }, () => workUntilCrash(world, store, ledger, names));
    await sleep(world.scheduler, world.random.fraction() * 60);
    world.crash();
    await Promise.all(writers);
    await store.close();
  });
}

describe('recovery of the memory driver', () => {
  for (const [title, journalBytesMin] of [
    ['a journal that only grows', 1_000_000],
    ['a journal that is rewritten all the time', 300],
  ] as const) {
    test(`crashes at random moments lose nothing acknowledged: ${title}`, async () => {
      for (let seed = 1; seed <= seeds; seed++) {
        const world = new MemoryWorld(seed, { journalBytesMin });
        const ledger = new PairLedger();
        let count = 0;
        const names = () => String(++count);
        try {
          for (let life = 0; life < livesPerSeed; life++) await oneLife(world, ledger, names);
          await world.withStore((store) => ledger.check(store));
          assert.ok(count > 0);
        } catch (error) {
          throw new Error(`seed ${seed}`, { cause: error });
        }
      }
    });
  }

  test('a crash during recovery, again and again, changes nothing', async () => {
    for (let seed = 1; seed <= 40; seed++) {
      const world = new MemoryWorld(seed, { journalBytesMin: 300 });
      const ledger = new PairLedger();
      let count = 0;
      await oneLife(world, ledger, () => String(++count));
      for (let attempt = 0; attempt < 5; attempt++) {
        await world.run(async () => {
          const opening = world.open().then(
            (store) => store.close(),
            () => {}, // the crash
          );
          await sleep(world.scheduler, world.random.fraction() * 4);
          world.crash();
          await opening;
        });
      }
      await world.withStore((store) => ledger.check(store));
    }
  });

  test('the journal is really rewritten, and smaller for it', async () => {
    const sizes = async (journalBytesMin: number) => {
      const world = new MemoryWorld(1, { journalBytesMin });
      await world.withStore(async (store) => {
        const ledger = new PairLedger();
        for (let at = 0; at < 200; at++) {
          await ledger.write(store, 'same');
          if (at % 20 === 0) await store.compact(await store.revision());
        }
        await ledger.check(store);
      });
      return world.journal().length;
    };
    const [grown, rewritten] = [await sizes(1_000_000), await sizes(1_000)];
    assert.ok(rewritten * 3 < grown, `${rewritten} of ${grown} bytes`);
  });
});
