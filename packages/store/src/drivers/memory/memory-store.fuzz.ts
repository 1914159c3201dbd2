/**
 * Hostile calls to a store and to a layered view of it. For any arguments, the result is an answer or a `StoreError` with a code of the
 * contract, and the store still works.
 */

import assert from 'node:assert/strict';
import { chance, pick, systemClock } from '@hangar/core';
import type { Random } from '@hangar/core';
import { VirtualDisk } from '@hangar/core/simulation';
import type { Store, Watch } from '../../contract.ts';
import { StoreError } from '../../errors.ts';
import type { StoreErrorCode } from '../../errors.ts';
import { hostileNumber, hostileText, hostileValue } from '../../fuzzing/hostile.ts';
import { BaseLayer } from '../../layered/base-layer.ts';
import { layeredStore } from '../../layered/layered-store.ts';
import { openMemoryStore } from './memory-store.ts';

const allowed: ReadonlySet<StoreErrorCode> = new Set<StoreErrorCode>([
  'InvalidKey',
  'InvalidRequest',
  'ValueTooLarge',
  'Compacted',
  'FutureRevision',
  'LeaseNotFound',
]);

const root = 't/';
const canary = `${root}canary`;
const base = new BaseLayer([{ key: 'a', value: Buffer.from('base') }]);

export async function fuzz(random: Random): Promise<void> {
  // With a journal: every accepted write must be encoded without an error.
  const store = await openMemoryStore({ disk: new VirtualDisk({ clock: systemClock, random, latencyMaxMs: 0 }) });
  const view = layeredStore({ store, prefix: root, base, baseRevision: 1 as never });
  try {
    await view.commit([{ type: 'put', key: canary, value: Buffer.from('alive') }]);
    for (let calls = 1 + random.below(8); calls > 0; calls--) {
      await attempt(random, chance(random, 0.5) ? store : view);
    }
    await view.commit([{ type: 'put', key: canary, value: Buffer.from('still alive') }]);
    const { entry } = await view.get(canary);
    assert.equal(Buffer.from(entry!.value).toString(), 'still alive');
  } finally {
    await store.close();
  }
}

async function attempt(random: Random, store: Store): Promise<void> {
  const [name, call] = pick(random, calls);
  try {
    await call(random, store);
  } catch (error) {
    if (error instanceof StoreError && allowed.has(error.code)) return;
    throw new Error(`${name} throws something else`, { cause: error });
  }
}

/** Mostly well-formed, with single invalid parts. */
type Call = (random: Random, store: Store) => unknown;
const calls: readonly [name: string, call: Call][] = [
  ['get', (random, store) => store.get(key(random), options(random))],
  ['range', (random, store) => store.range(range(random), options(random))],
  ['statistics', (random, store) => store.statistics(range(random), options(random))],
  ['commit', (random, store) => store.commit(writes(random))],
  ['commit', (random, store) => store.commit(writes(random))],
  ['compact', (random, store) => store.compact(either(random, hostileNumber))],
  ['grantLease', (random, store) => store.grantLease(either(random, hostileNumber))],
  ['leaseTtlMs', (random, store) => store.leaseTtlMs(either(random, hostileText))],
  ['renewLease', (random, store) => store.renewLease(either(random, hostileText))],
  ['revokeLease', (random, store) => store.revokeLease(either(random, hostileText))],
  ['watch', (random, store) => useWatch(store.watch(watchOptions(random)))],
];

async function useWatch(watch: Watch): Promise<void> {
  watch.requestProgress();
  try {
    await watch.next();
  } finally {
    watch.close();
  }
}

function either<T>(random: Random, usual: (random: Random) => unknown): T {
  return (chance(random, 0.2) ? hostileValue(random) : usual(random)) as T;
}

function key(random: Random): string {
  return either(random, (random) => (chance(random, 0.5) ? root + hostileText(random) : hostileText(random)));
}

function range(random: Random): never {
  const whole = () => ({ start: key(random), ...(chance(random, 0.6) && { end: key(random) }) });
  return either(random, whole);
}

/** Values that a caller passes on may be anything; the options object itself is well-formed. */
function options(random: Random): never {
  return {
    ...(chance(random, 0.4) && { atRevision: either(random, hostileNumber) }),
    ...(chance(random, 0.4) && { limit: either(random, hostileNumber) }),
    ...(chance(random, 0.4) && { keysOnly: either(random, () => true) }),
  } as never;
}

function writes(random: Random): never {
  return either(random, (random) => Array.from({ length: random.below(4) }, () => write(random)));
}

function write(random: Random): unknown {
  return either(random, (random) => {
    const type = either(random, (random) => pick(random, ['put', 'delete', 'deleteRange', 'check']));
    return {
      type,
      ...(chance(random, 0.9) && { key: key(random) }),
      ...(chance(random, 0.6) && { value: either(random, (random) => random.bytes(random.below(20))) }),
      ...(chance(random, 0.3) && { expected: either(random, hostileNumber) }),
      ...(chance(random, 0.1) && { lease: either(random, hostileText) }),
      ...(chance(random, 0.4) && { range: range(random) }),
      ...(chance(random, 0.2) && { revisionMin: either(random, hostileNumber) }),
      ...(chance(random, 0.2) && { restored: either(random, restored) }),
    };
  });
}

function restored(random: Random): unknown {
  const number = () => either(random, (random) => (chance(random, 0.7) ? 1 + random.below(9) : hostileNumber(random)));
  return { createRevision: number(), modRevision: number(), version: number() };
}

/** A watch from the future never answers here: it begins at the first revision, or is refused. */
function watchOptions(random: Random): never {
  return {
    prefix: key(random),
    ...(chance(random, 0.5) && { fromRevision: either(random, (random) => pick(random, [0, 1, 2, -1, 1.5, NaN])) }),
    ...(chance(random, 0.5) && { previous: either(random, () => true) }),
  } as never;
}
