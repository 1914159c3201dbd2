/** The MVCC engine against the naive store: random transactions, reads of the past, compactions, watches, restarts. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Activity, currentActivity, runActivity, seededRandom, systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { VirtualDisk } from '@hangar/core/simulation';
import * as fc from 'fast-check';
import type {
  Entry,
  LeaseId,
  RestoredRevisions,
  Revision,
  Store,
  StoreEvent,
  Watch,
  WatchBatch,
  Write,
} from '../contract.ts';
import { NaiveStore } from '../conformance/naive-store.ts';
import { openMemoryStore } from '../drivers/memory/memory-store.ts';
import { everything, inRange, prefixRange } from '../keys.ts';

const names = ['a', 'a/1', 'a/2', 'b', 'b/\uffff', 'b/\u{10000}'];
const prefixes = ['', 'a', 'a/', 'b', 'b/', 'c'];

const encoder = new TextEncoder();

/** A number that selects one of the existing revisions when it is used. */
const moment = fc.nat(1_000);

type Condition = 'none' | 'absent' | 'current' | 'stale';
interface Step {
  key: string;
  type: 'put' | 'delete' | 'check';
  condition: Condition;
  lease: boolean;
  /** A restored put: its modRevision is this much below the current revision, or above it. */
  restored: { below: number; versions: number } | undefined;
}

const step: fc.Arbitrary<Step> = fc.record(
  {
    key: fc.constantFrom(...names),
    type: fc.constantFrom('put', 'put', 'delete', 'check'),
    condition: fc.constantFrom('none', 'none', 'absent', 'current', 'current', 'stale'),
    lease: fc.boolean(),
    restored: fc.option(fc.record({ below: fc.integer({ min: -4, max: 20 }), versions: fc.nat(3) }), {
      nil: undefined,
      freq: 3,
    }),
  },
  { noNullPrototype: true },
);

interface Transaction {
  steps: Step[];
  deletePrefix: string | undefined;
}

type Action =
  /** All at once: they share a group, and are executed in this order. */
  | { type: 'commit'; transactions: Transaction[] }
  | { type: 'compact' | 'read'; at: number }
  | { type: 'watch'; prefix: string; at: number | undefined }
  | { type: 'grant' | 'revoke' | 'restart' | 'readWatches' };

const transaction: fc.Arbitrary<Transaction> = fc.record({
  steps: fc.uniqueArray(step, { selector: (step) => step.key, minLength: 1, maxLength: 4 }),
  deletePrefix: fc.option(fc.constantFrom('a/', 'b', 'c'), { nil: undefined, freq: 6 }),
});

const commit = fc.record({
  type: fc.constant('commit' as const),
  transactions: fc.oneof(fc.tuple(transaction), fc.array(transaction, { minLength: 2, maxLength: 4 })),
});

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 10, arbitrary: commit },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('read' as const), at: moment }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('compact' as const), at: moment }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('watch' as const),
      prefix: fc.constantFrom(...prefixes),
      at: fc.option(moment, { nil: undefined }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constantFrom('grant', 'revoke', 'restart', 'readWatches') }) },
);

interface OpenWatch {
  watch: Watch;
  prefix: string;
  /** The first revision that it has not shown yet. */
  next: Revision;
}

/** The store under test and the naive one, side by side. */
class Pair {
  readonly naive = new NaiveStore();
  readonly #disk = new VirtualDisk({ clock: systemClock, random: seededRandom(1), latencyMaxMs: 0 });
  readonly #watchQueueLengthMax: number;
  #store: Store | undefined;
  #watches: OpenWatch[] = [];
  #count = 0;

  constructor(watchQueueLengthMax: number) {
    this.#watchQueueLengthMax = watchQueueLengthMax;
  }

  get store(): Store {
    return this.#store!;
  }

  async open(): Promise<void> {
    await this.#store?.close();
    for (const { watch } of this.#watches) await assert.rejects(watch.next(), { code: 'Closed' });
    this.#watches = [];
    // A journal that is rewritten with almost every commit, so that restarts begin from rewritten ones too.
    const options = { disk: this.#disk, journalBytesMin: 500, watchQueueLengthMax: this.#watchQueueLengthMax };
    this.#store = await openMemoryStore(options);
  }

  async act(action: Action): Promise<void> {
    if (action.type === 'commit') return this.#commit(action.transactions.map((each) => this.#writes(each)));
    if (action.type === 'compact') return this.#compact(this.#revisionOf(action.at));
    if (action.type === 'read') return this.read(this.#revisionOf(action.at));
    if (action.type === 'watch') return this.#watch(action.prefix, action.at);
    if (action.type === 'grant') return void this.naive.leases.add((await this.store.grantLease(3_600_000)).id);
    if (action.type === 'revoke') return this.#revoke();
    return action.type === 'restart' ? this.open() : this.readWatches();
  }

  /** Any revision that was, and the numbers between them. */
  #revisionOf(moment: number): Revision {
    return (moment % (this.naive.revision + 1)) as Revision;
  }

  #writes({ steps, deletePrefix }: Transaction): Write[] {
    const range = deletePrefix === undefined ? undefined : prefixRange(deletePrefix);
    const allowed = steps.filter((step) => !range || step.type === 'check' || !inRange(step.key, range));
    const writes = allowed.map((step) => this.#write(step));
    return range ? [...writes, { type: 'deleteRange', range }] : writes;
  }

  #restored({ below, versions }: NonNullable<Step['restored']>): RestoredRevisions {
    const modRevision = Math.max(1, this.naive.revision - below);
    const createRevision = Math.max(1, modRevision - versions) as Revision;
    return { createRevision, modRevision: modRevision as Revision, version: versions + 1 };
  }

  #write({ key, type, condition, lease, restored }: Step): Write {
    const current = this.naive.entry(key)?.modRevision ?? 0;
    const expected = { none: undefined, absent: 0, current, stale: Math.max(0, current - 1) }[condition] as
      | Revision
      | undefined;
    const guard = expected !== undefined && { expected };
    if (type === 'check') return { type, key, expected: expected ?? (current as Revision) };
    if (type === 'delete') return { type, key, ...guard };
    const [id] = lease ? this.naive.leases : [];
    const value = encoder.encode(`value ${++this.#count}`);
    const revisions = restored && { restored: this.#restored(restored) };
    return { type, key, value, ...guard, ...(id && { lease: id }), ...revisions };
  }

  async #commit(transactions: Write[][]): Promise<void> {
    const submitted = transactions.filter((writes) => writes.length > 0);
    const results = await Promise.all(submitted.map((writes) => this.store.commit(writes)));
    submitted.forEach((writes, at) => this.naive.committed(writes, results[at]!));
  }

  async #compact(revision: Revision): Promise<void> {
    await this.store.compact(revision);
    if (revision > this.naive.compacted) this.naive.compacted = revision;
  }

  async #revoke(): Promise<void> {
    const id = this.naive.leases.values().next().value ?? ('none' as LeaseId);
    if (!this.naive.leases.has(id)) return assert.rejects(this.store.revokeLease(id), { code: 'LeaseNotFound' });
    await this.store.revokeLease(id);
    this.naive.revoked(id, await this.store.revision());
  }

  async read(at: Revision): Promise<void> {
    const { store, naive } = this;
    if (at < naive.compacted) {
      return assert.rejects(store.range(everything, { atRevision: at }), { code: 'Compacted' });
    }
    assert.equal(await store.revision(), naive.revision);
    for (const prefix of prefixes) {
      const range = prefixRange(prefix);
      const expected = naive.range(range, at);
      const { entries, revision } = await store.range(range, { atRevision: at });
      assert.deepEqual(entries, expected);
      assert.equal(revision, at);
      const limited = await store.range(range, { atRevision: at, limit: 2, keysOnly: true });
      assert.deepEqual(limited.entries.map(keyOf), expected.slice(0, 2).map(keyOf));
      assert.equal(limited.more, expected.length > 2);
      const statistics = await store.statistics(range, { atRevision: at });
      assert.deepEqual([statistics.keys, statistics.bytes], [expected.length, bytesOf(expected)]);
    }
    for (const name of names) {
      assert.deepEqual((await store.get(name, { atRevision: at })).entry, naive.entry(name, at));
      assert.deepEqual((await store.get(name)).entry, naive.entry(name));
    }
  }

  async #watch(prefix: string, at: number | undefined): Promise<void> {
    const from = at === undefined ? ((this.naive.revision + 1) as Revision) : this.#revisionOf(at);
    const options = { prefix, previous: true, ...(at !== undefined && { fromRevision: from }) };
    this.#watches.push({ watch: this.store.watch(options), prefix, next: from });
  }

  /** Every watch shows exactly the history since its last read, or reports that it was compacted. */
  async readWatches(): Promise<void> {
    const left: OpenWatch[] = [];
    for (const open of this.#watches) {
      const expected = this.naive.history(open.prefix, open.next).map(normal);
      open.watch.requestProgress();
      const seen: WatchBatch[] = [];
      try {
        for (let batch = await open.watch.next(); batch!.events.length > 0; batch = await open.watch.next()) {
          seen.push(batch!);
        }
        assert.deepEqual(seen.map(normal), expected);
        left.push({ ...open, next: Math.max(open.next, this.naive.revision + 1) as Revision });
      } catch (error) {
        if ((error as { code: string }).code !== 'Compacted') throw error;
        assert.ok(open.next <= this.naive.compacted, 'refused without need');
        assert.deepEqual(seen.map(normal), expected.slice(0, seen.length));
      }
    }
    this.#watches = left;
  }

  async close(): Promise<void> {
    await this.#store?.close();
  }
}

const keyOf = (entry: Entry) => entry.key;

function bytesOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, { key, value }) => sum + Buffer.byteLength(key) + value.length, 0);
}

/** Events of one revision have no order among themselves. */
function normal(batch: WatchBatch): unknown {
  const keyOfEvent = (event: StoreEvent) => (event.type === 'put' ? event.entry.key : event.key);
  const events = [...batch.events].sort((a, b) => (keyOfEvent(a) < keyOfEvent(b) ? -1 : 1));
  const plain = (entry: Entry | undefined) => entry && { ...entry, value: Buffer.from(entry.value).toString() };
  return {
    revision: batch.revision,
    events: events.map((event) => ({
      key: keyOfEvent(event),
      entry: event.type === 'put' ? plain(event.entry) : undefined,
      previous: plain(event.previous),
    })),
  };
}

describe('the MVCC engine', () => {
  for (const watchQueueLengthMax of [1, 1_000]) {
    test(`does what the naive store does, with room for ${watchQueueLengthMax} in a watch's queue`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(action, { maxLength: 60, size: 'max' }), async (actions) => {
          const pair = new Pair(watchQueueLengthMax);
          try {
            await pair.open();
            for (const action of actions) await pair.act(action);
            await pair.readWatches();
            for (let at = 0; at <= pair.naive.revision; at++) await pair.read(at as Revision);
          } finally {
            await pair.close();
          }
        }),
        { numRuns: 60 },
      );
    });
  }
});

test('work for all tenants belongs to no activity, whichever activity commits or grants a lease', async () => {
  const seen: unknown[] = [];
  const clock: Clock = {
    ...systemClock,
    after: (delayMs, callback) => (seen.push(['after', currentActivity()]), systemClock.after(delayMs, callback)),
    soon: (callback) => (seen.push(['soon', currentActivity()]), systemClock.soon(callback)),
  };
  const store = await openMemoryStore({ clock });
  await runActivity(new Activity('POST', '/'), async () => {
    await store.grantLease(60_000);
    await Promise.all(['a', 'b'].map((key) => store.commit([{ type: 'put', key, value: encoder.encode('1') }])));
  });
  await store.close();
  assert.deepEqual(new Set(seen.map((one) => JSON.stringify(one))), new Set(['["soon",null]', '["after",null]']));
});

test('a large transaction is visible to the next reads, although the entries that it deletes are removed in slices', async () => {
  const store = await openMemoryStore({ clock: systemClock });
  const value = encoder.encode('1');
  const get = async (key: string): Promise<Revision | undefined> => (await store.get(key)).entry?.modRevision;
  const keys = Array.from({ length: 120 }, (_, n) => [`/a/${n}`, `/b/${n}`, `/c/${n}`]).flat();
  for (const key of [...keys, '/d/1', '/d/2']) await store.commit([{ type: 'put', key, value }]);
  const { revision } = await store.commit([
    { type: 'deleteRange', range: prefixRange('/a/') },
    { type: 'deleteRange', range: { start: '/b/', end: '/c0' } },
    { type: 'delete', key: '/d/1' },
    { type: 'put', key: '/d/2', value },
  ]);
  const again = store.commit([{ type: 'put', key: '/b/7', value }]);
  for (const key of [...keys, '/d/1']) assert.equal(await get(key), undefined, key);
  assert.equal(await get('/d/2'), revision);
  const { revision: later } = await again;
  for (let n = 0; n < 5; n++) {
    assert.equal(await get('/b/7'), later);
    assert.equal(await get('/b/8'), undefined);
    await new Promise<void>((resolve) => systemClock.soon(resolve));
  }
  await store.close();
});
