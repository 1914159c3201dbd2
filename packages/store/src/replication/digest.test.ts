import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@hangar/core';
import type { Timer } from '@hangar/core';
import type { Revision, Store, Write } from '../contract.ts';
import { openMemoryStore } from '../drivers/memory/memory-store.ts';
import { put } from '../drivers/memory/testing.ts';
import { alteredStore } from '../simulation/planted-bugs/altered.ts';
import { replicaDigest } from './digest.ts';

async function filled(...transactions: Write[][]): Promise<Store> {
  const store = await openMemoryStore();
  for (const writes of transactions) await store.commit(writes);
  return store;
}

const digestOf = async (store: Store, prefix = '/t/'): Promise<string> =>
  (await replicaDigest(store, { prefix })).digest;

test('equal ranges have equal digests, below different prefixes', async () => {
  const one = await filled([put('/t/a', '1')], [put('/t/b', '2'), put('/u/a', '1')], [put('/u/b', '2')]);
  const other = await filled([put('/long/prefix/a', '1')], [put('/long/prefix/b', '2')]);
  const digest = await replicaDigest(one, { prefix: '/t/' });
  assert.deepEqual(await replicaDigest(other, { prefix: '/long/prefix/' }), { ...digest, revision: 3 });
  assert.equal(digest.entries, 2);
  assert.equal(digest.revision, 5);
});

test('any difference of an entry changes the digest', async () => {
  const digests = await Promise.all(
    [
      [[put('/t/a', '1')], [put('/t/b', '2')]],
      [[put('/t/a', '1')], [put('/t/c', '2')]],
      [[put('/t/a', '1')], [put('/t/b', '3')]],
      [[put('/t/a', '1')], [put('/x', '')], [put('/t/b', '2')]],
      [[put('/t/a', '0')], [put('/t/a', '1')], [put('/t/b', '2')]],
      [[put('/t/a', '1')]],
      [[put('/t/a1', '')], [put('/t/b', '2')]],
      [],
    ].map(async (transactions) => digestOf(await filled(...transactions))),
  );
  assert.equal(new Set(digests).size, digests.length);
});

test('the digest of an earlier revision does not see later changes', async () => {
  const store = await filled([put('/t/a', '1')]);
  const before = await replicaDigest(store, { prefix: '/t/' });
  await store.commit([put('/t/a', '2'), put('/t/b', '2')]);
  assert.deepEqual(await replicaDigest(store, { prefix: '/t/', at: before.revision }), before);
  await store.compact(await store.revision());
  await assert.rejects(replicaDigest(store, { prefix: '/t/', at: 2 as Revision }), { code: 'Compacted' });
});

test('leases and omitted keys are not part of the digest', async () => {
  const store = await filled([put('/t/a', '1')]);
  const leased = await openMemoryStore();
  const { id } = await leased.grantLease(60_000);
  await leased.commit([put('/t/a', '1', id)]);
  assert.equal(await digestOf(leased), await digestOf(store));
  await store.commit([put('/t/filler', '1')]);
  const omits = (key: string): boolean => key === 'filler';
  assert.equal((await replicaDigest(store, { prefix: '/t/', omits })).digest, await digestOf(leased));
});

test('the event loop runs after half a megabyte, also if large entries follow small ones', async () => {
  const store = await openMemoryStore();
  for (let at = 0; at < 200; at++) await store.commit([put(`/t/a${at}`, 'x')]);
  for (let at = 0; at < 64; at++) await store.commit([put(`/t/b${at}`, 'x'.repeat(100_000))]);
  const lengths: number[] = [];
  const measured = alteredStore(store, {
    async range(range, options) {
      const page = await store.range(range, options);
      lengths.push(page.entries.length);
      return page;
    },
  });
  let slices = 0;
  const betweenTurns = (callback: () => void): Timer => {
    slices++;
    return systemClock.soon(callback);
  };
  let nowMs = 0;
  const clock = { ...systemClock, betweenTurns, monotonicMs: () => nowMs };
  const { entries } = await replicaDigest(measured, { prefix: '/t/', clock });
  assert.equal(entries, 264);
  assert.ok(Math.max(...lengths) <= 20, lengths.join());
  assert.ok(slices >= 10 && slices < lengths.length, `${slices} slices of ${lengths.length} pages`);
  slices = 0;
  // Each reading of the clock takes as long as a slice.
  const slow = { ...clock, monotonicMs: () => (nowMs += 4) };
  await replicaDigest(store, { prefix: '/t/', clock: slow });
  assert.ok(slices >= lengths.length, `${slices} slices of ${lengths.length} pages`);
});

test('an abort ends the calculation', async () => {
  const store = await filled([put('/t/a', '1')]);
  await assert.rejects(replicaDigest(store, { prefix: '/t/', signal: AbortSignal.abort() }), { name: 'AbortError' });
});
