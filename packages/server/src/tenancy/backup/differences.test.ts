import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { openMemoryStore, prefixRange } from '@hangar/store';
import type { Store } from '@hangar/store';
import { differences } from './differences.ts';
import { transactions } from './transactions.ts';

const prefixes = { staged: '/registry/staged/demo/', own: '/registry/clusters/demo/' };
const key = fc.constantFrom('.hangar/tenant', '.hidden/a', 'a/b', 'a/b/c', 'a0', 'b/\u{1f600}', 'b/\uffff', 'c');
const content = fc.dictionary(key, fc.constantFrom('', 'x', 'y'), { maxKeys: 8 });

async function fill(store: Store, prefix: string, entries: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(entries)) {
    await store.commit([{ type: 'put', key: prefix + name, value: Buffer.from(value) }]);
  }
}

async function read(store: Store, prefix: string): Promise<Map<string, string>> {
  const { entries } = await store.range(prefixRange(prefix));
  return new Map(entries.map((entry) => [entry.key.slice(prefix.length), Buffer.from(entry.value).toString()]));
}

test('the differences make the range equal to the staged entries, and leave internal data and equal entries alone', async () => {
  await fc.assert(
    fc.asyncProperty(content, content, async (staged, own) => {
      const store = await openMemoryStore();
      await fill(store, prefixes.staged, staged);
      await fill(store, prefixes.own, own);
      const writes = await Array.fromAsync(differences(store, prefixes));
      for (const write of writes) {
        assert.ok(write.type === 'put' || write.type === 'delete');
        const name = write.key.slice(prefixes.own.length);
        assert.ok(write.type === 'delete' ? !(name in staged) : staged[name] !== own[name], name);
      }
      for await (const group of transactions(differences(store, prefixes))) await store.commit(group);
      const internal = Object.entries(own).filter(([name]) => name.startsWith('.hangar/'));
      const wanted = Object.entries(staged).filter(([name]) => !name.startsWith('.hangar/'));
      assert.deepEqual(await read(store, prefixes.own), new Map([...internal, ...wanted].sort(byBytes)));
      await store.close();
    }),
    { numRuns: 200 },
  );
});

test('an entry with a lease is replaced by an equal one without', async () => {
  const store = await openMemoryStore();
  const lease = await store.grantLease(60_000);
  await store.commit([
    { type: 'put', key: `${prefixes.own}events/a`, value: Buffer.from('x'), lease: lease.id },
    { type: 'put', key: `${prefixes.staged}events/a`, value: Buffer.from('x') },
  ]);
  assert.equal((await Array.fromAsync(differences(store, prefixes))).length, 1);
  await store.close();
});

const byBytes = ([one]: [string, string], [other]: [string, string]): number =>
  Buffer.compare(Buffer.from(one), Buffer.from(other));
