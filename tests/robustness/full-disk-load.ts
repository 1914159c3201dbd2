/**
 * A process on a small disk: fills it while many write, frees it, repeatedly; opens a store on a full disk and on a read-only one. It
 * checks the results, exits with an error when something is wrong, and prints what it did. `node full-disk-load.ts <mount point>`, in a
 * separate mount namespace.
 */

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import type { Store } from '@hangar/store';
import { openEmbeddedStore } from '../../packages/store/src/drivers/embedded/embedded-store.ts';
import { StoreError } from '../../packages/store/src/errors.ts';
import { everything } from '../../packages/store/src/keys.ts';
import { Ledger } from './ledger.ts';
import { writesOf } from './plan.ts';
import type { Plan } from './plan.ts';
import { SmallDisk } from './small-disk.ts';
import { openCodes, stateOf } from './telling.ts';

const disk = new SmallDisk(process.argv[2]!, 8);
const directory = disk.path('data');
const ledger = new Ledger();
const codes = new Map<string, number>();
let count = 0;

const open = () => openEmbeddedStore({ directory, checkpointPages: 100, history: { ageMs: 200, revisionsMax: 200 } });

/** Commits one transaction of two keys; returns the code of the refusal, or `acknowledged`. */
async function commit(store: Store, size: number): Promise<string> {
  const id = `t${count++}`;
  const witness = `/witness/${id}`;
  const key = `/k${count % 100}`;
  const plan: Plan = {
    id,
    witness,
    writes: [
      { type: 'put', key: witness, size: 0 },
      { type: 'put', key, size },
    ],
  };
  ledger.intend(plan);
  const code = await outcomeOf(store, plan);
  codes.set(code, (codes.get(code) ?? 0) + 1);
  return code;
}

async function outcomeOf(store: Store, plan: Plan): Promise<string> {
  try {
    const result = await store.commit(writesOf(plan));
    assert.ok(result.committed);
    ledger.acknowledge(plan.id, result.revision, result.deleted);
    return 'acknowledged';
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    if (openCodes.includes(error.code)) ledger.leaveOpen(plan.id);
    else ledger.refuse(plan.id);
    return error.code;
  }
}

/** Runs several writers until each was refused a few times. */
async function writeUntilFull(store: Store): Promise<void> {
  const writer = async () => {
    for (let refusals = 0; refusals < 5;) {
      const code = await commit(store, 200 + (count % 50) * 100);
      if (code !== 'acknowledged') refusals++;
      if (refusals > 0) assert.notEqual(code, 'StorageReadOnly');
    }
  };
  await Promise.all(Array.from({ length: 8 }, writer));
}

async function check(store: Store): Promise<void> {
  // A commit with an unknown outcome may be found by a later recovery.
  ledger.compare(await stateOf(store, everything), { mayBeLate: true });
  assert.deepEqual(ledger.violations, []);
}

async function fullAndFree(store: Store, round: number): Promise<void> {
  disk.fill([0, 40_000, 300_000, 1_500_000][round % 4]);
  await writeUntilFull(store);
  await check(store);
  disk.free();
  assert.equal(await commit(store, 5_000), 'acknowledged', 'space is back, and the store must be too');
  await check(store);
}

/** Closes and opens the store while there is no space: nothing may be lost, with any answer. */
async function restartWhileFull(
  store: Store,
  options: { leaveBytes: number; closedWhen: 'full' | 'free' },
): Promise<Store> {
  const { leaveBytes, closedWhen } = options;
  if (closedWhen === 'full') {
    disk.fill(leaveBytes);
    await writeUntilFull(store);
  }
  await store.close();
  disk.fill(leaveBytes);
  console.log(`closed when ${closedWhen}, opened with ${leaveBytes} bytes: ${await openWhileFull()}`);
  disk.free();
  const reopened = await open();
  await check(reopened);
  assert.equal(await commit(reopened, 5_000), 'acknowledged');
  return reopened;
}

async function openWhileFull(): Promise<string> {
  let store: Store;
  try {
    store = await open();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    assert.equal(error.code, 'StorageFull', error.message);
    assert.match(error.message, /no space left/);
    return error.message.replace(directory, '<data>');
  }
  await check(store);
  const code = await commit(store, 100_000);
  await check(store);
  await store.close();
  return `open, and a large commit is ${code}`;
}

let store = await open();
for (let at = 0; at < 50; at++) assert.equal(await commit(store, 1_000), 'acknowledged');
for (let round = 0; round < 8; round++) await fullAndFree(store, round);
for (const leaveBytes of [0, 5_000, 30_000, 80_000]) {
  store = await restartWhileFull(store, { leaveBytes, closedWhen: 'full' });
  store = await restartWhileFull(store, { leaveBytes, closedWhen: 'free' });
}
await store.close();
console.log(`full: ${[...codes].map(([code, times]) => `${times} ${code}`).join(', ')}, 0 missing, 0 invented`);
assert.ok(codes.get('StorageFull')! > 100);
assert.ok(
  (codes.get('StorageFailed') ?? 0) <= codes.get('StorageFull')! / 10,
  'a full disk must be told from a failed one',
);

// A store cannot be created on a full disk, and can when there is space.
disk.fill();
mkdirSync(disk.path('second'), { recursive: true });
await assert.rejects(openEmbeddedStore({ directory: disk.path('second') }), { code: 'StorageFull' });
disk.free();
await (await openEmbeddedStore({ directory: disk.path('second') })).close();

disk.readOnly(true);
for (const path of [directory, disk.path('new'), disk.path('second')]) {
  await assert.rejects(openEmbeddedStore({ directory: path }), (error: StoreError) => {
    assert.equal(error.code, 'StorageReadOnly', error.message);
    assert.match(error.message, /read-only/);
    assert.ok(error.message.includes(path), error.message);
    return true;
  });
}
disk.readOnly(false);
store = await open();
await check(store);
assert.equal(await commit(store, 100), 'acknowledged');
await store.close();
console.log('read-only: refused, and opened again');
