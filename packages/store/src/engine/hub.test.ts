import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Revision, StoreEvent, Watch, WatchBatch } from '../contract.ts';
import { CompactedError, StoreError } from '../errors.ts';
import { compareKeys } from '../keys.ts';
import { WatchHub } from './hub.ts';
import type { HistorySource } from './hub.ts';

interface WorldOptions {
  queueLengthMax?: number;
  batchLengthMax?: number;
  pageLength?: number;
  publishedUpTo?: () => Promise<void>;
}

/** A hub over a list of revisions, each with the keys that it wrote; the list is its history too. */
function world(options: WorldOptions = {}) {
  const log: { revision: Revision; keys: string[] }[] = [];
  const state = { compacted: 0 as Revision, reads: 0, pausedRead: Promise.resolve() as Promise<unknown> };
  const history: HistorySource = {
    compactedRevision: () => state.compacted,
    published: options.publishedUpTo ?? (() => Promise.resolve()),
    async read({ prefix, fromRevision, to, previous }) {
      state.reads++;
      await state.pausedRead;
      if (fromRevision <= state.compacted) throw new CompactedError(fromRevision, state.compacted);
      const last = Math.min(to, fromRevision + (options.pageLength ?? 1_000) - 1);
      const span = log.filter(({ revision }) => revision >= fromRevision && revision <= last);
      const batches = span
        .map(({ revision, keys }) => ({
          revision,
          events: keys.filter((key) => key.startsWith(prefix)).map((key) => event(key, previous)),
        }))
        .filter((batch) => batch.events.length > 0);
      return { batches, next: (last + 1) as Revision };
    },
  };
  const { queueLengthMax, batchLengthMax } = options;
  const hub = new WatchHub({
    history,
    revision: 1 as Revision,
    ...(queueLengthMax !== undefined && { queueLengthMax }),
    ...(batchLengthMax !== undefined && { batchLengthMax }),
  });
  let revision = 1;
  const publish = (...keys: string[]): Revision => {
    revision++;
    log.push({ revision: revision as Revision, keys });
    hub.publish({ revision: revision as Revision, keys, event: (index, previous) => event(keys[index]!, previous) });
    return revision as Revision;
  };
  return { hub, publish, state };
}

function event(key: string, previous: boolean): StoreEvent {
  const was = {
    key,
    value: new Uint8Array(),
    createRevision: 1 as Revision,
    modRevision: 1 as Revision,
    version: 1,
    lease: undefined,
  };
  return { type: 'delete', key, ...(previous && { previous: was }) };
}

const lines = (batch: WatchBatch | undefined) =>
  batch && `${batch.revision}: ${batch.events.map((event) => (event.type === 'delete' ? event.key : '')).join()}`;

async function take(watch: Watch, count: number): Promise<(string | undefined)[]> {
  const taken: (string | undefined)[] = [];
  for (let at = 0; at < count; at++) taken.push(lines(await watch.next()));
  return taken;
}

describe('the watch hub', () => {
  test('delivers a revision of a whole range as one of a few keys', async () => {
    const { hub, publish } = world();
    const keys = ['a/', 'b/', 'b/c/', '\u{10000}/', '\uffff/'].flatMap((prefix) =>
      Array.from({ length: 70 }, (_, index) => `${prefix}${String(index).padStart(2, '0')}`),
    );
    const prefixes = ['', 'a', 'a/', 'a/1', 'a/69', 'a/7', 'b/', 'b/c/0', 'c', '\u{10000}', '\uffff/6', '\uffff/9'];
    for (const order of [keys.toSorted(compareKeys), keys.toSorted(compareKeys).reverse()]) {
      const watches = prefixes.map((prefix) => ({ prefix, watch: hub.watch({ prefix, previous: true }) }));
      const revision = publish(...order);
      publish(...prefixes.map((prefix) => `${prefix}~`));
      for (const { prefix, watch } of watches) {
        const expected = order.filter((key) => key.startsWith(prefix));
        const told = await watch.next();
        if (expected.length > 0) {
          assert.equal(lines(told), `${revision}: ${expected.join()}`, prefix);
          assert.ok(told!.events.every((one) => one.previous));
        } else assert.equal(told!.revision, revision + 1, prefix);
        watch.close();
      }
    }
  });

  test('makes no events of a revision that is too large for a watch: the watch reads it from the history as one batch', async () => {
    const { hub, state } = world({ batchLengthMax: 2 });
    const [all, few] = [hub.watch({ prefix: '' }), hub.watch({ prefix: 'b' })];
    const [waiting, waitingFew] = [all.next(), few.next()];
    let made = 0;
    const keys = ['a/1', 'a/2', 'b'];
    hub.publish({
      revision: 2 as Revision,
      keys,
      event: (index, previous) => {
        made++;
        return event(keys[index]!, previous);
      },
    });
    assert.equal(made, 1, 'the event of the watch for which the revision is small');
    assert.equal(lines(await waitingFew), '2: b');
    assert.equal(state.reads, 1, 'in the same turn: whoever waits need not ask again');
    all.close();
    assert.equal(await waiting, undefined);
  });

  test('delivers what comes before and after a revision that is too large in order, with or without a consumer that waits', async () => {
    for (const isWaiting of [true, false]) {
      const { hub, publish } = world({ batchLengthMax: 2 });
      const watch = hub.watch({ prefix: 'a' });
      const first = isWaiting ? watch.next() : undefined;
      const expected = [publish('a/0'), publish('a/1', 'a/2', 'a/3'), publish('b'), publish('a/4')];
      const taken = [...(first ? [lines(await first)] : []), ...(await take(watch, first ? 2 : 3))];
      assert.deepEqual(taken, [`${expected[0]}: a/0`, `${expected[1]}: a/1,a/2,a/3`, `${expected[3]}: a/4`]);
      watch.requestProgress();
      assert.equal(lines(await watch.next()), `${expected[3]}: `);
      watch.close();
    }
  });

  test('reads a revision that is too large once for all watches of a prefix', async () => {
    const { hub, publish, state } = world({ batchLengthMax: 2 });
    const plain = Array.from({ length: 10 }, () => hub.watch({ prefix: 'a' }));
    const withPrevious = Array.from({ length: 10 }, () => hub.watch({ prefix: 'a', previous: true }));
    const other = hub.watch({ prefix: 'a/' });
    const waiting = [...plain, ...withPrevious, other].map((watch, at) => (at % 2 === 0 ? watch.next() : undefined));
    publish('a/1', 'a/2', 'a/3');
    const batches = await Promise.all(
      [...plain, ...withPrevious, other].map((watch, at) => waiting[at] ?? watch.next()),
    );
    assert.deepEqual(new Set(batches.map(lines)), new Set(['2: a/1,a/2,a/3']));
    const hasPrevious = batches.map((batch) => batch!.events.every((one) => one.type === 'delete' && one.previous));
    assert.deepEqual(hasPrevious, [...plain.map(() => false), ...withPrevious.map(() => true), false]);
    assert.equal(state.reads, 3, 'for the prefix without and with previous values, and for the other prefix');
    publish('a/4');
    for (const watch of [...plain, ...withPrevious, other]) assert.equal(lines(await watch.next()), '3: a/4');
  });

  test('gives no mark before a revision that is too large is delivered', async () => {
    const { hub, publish, state } = world({ batchLengthMax: 2 });
    const paused = Promise.withResolvers<void>();
    state.pausedRead = paused.promise;
    const watch = hub.watch({ prefix: 'a' });
    const first = watch.next();
    const revision = publish('a/1', 'a/2', 'a/3');
    watch.requestProgress();
    paused.resolve();
    assert.equal(lines(await first), `${revision}: a/1,a/2,a/3`);
    assert.equal(lines(await watch.next()), `${revision}: `);
    watch.close();
  });

  test('delivers each revision to the watches whose prefix it touched', async () => {
    const { hub, publish } = world();
    const watches = ['', 'a', 'a/', 'a/1', 'b', 'ab'].map((prefix) => hub.watch({ prefix }));
    publish('a/1', 'a/2', 'b');
    publish('a');
    publish('ab/1');
    assert.deepEqual(await Promise.all(watches.map((watch, at) => take(watch, [3, 3, 1, 1, 1, 1][at]!))), [
      ['2: a/1,a/2,b', '3: a', '4: ab/1'],
      ['2: a/1,a/2', '3: a', '4: ab/1'],
      ['2: a/1,a/2'],
      ['2: a/1'],
      ['2: b'],
      ['4: ab/1'],
    ]);
  });

  test('makes one batch for all watches of a prefix, and one more for those who want previous values', async () => {
    const { hub, publish } = world();
    const [one, other, withPrevious] = [
      hub.watch({ prefix: 'a' }),
      hub.watch({ prefix: 'a' }),
      hub.watch({ prefix: 'a', previous: true }),
    ];
    publish('a');
    const batches = await Promise.all([one.next(), other.next(), withPrevious.next()]);
    assert.equal(batches[0], batches[1]);
    assert.equal(batches[0]!.events[0]!.previous, undefined);
    assert.equal(batches[2]!.events[0]!.previous?.key, 'a');
  });

  test('serves a watch from the past page by page, then live, without a gap or a repetition', async () => {
    const { hub, publish, state } = world({ pageLength: 7 });
    const expected: string[] = [];
    const write = (times: number) => {
      for (let at = 0; at < times; at++) expected.push(`${publish('a')}: a`);
    };
    write(50);
    const watch = hub.watch({ prefix: 'a', fromRevision: 2 as Revision });
    const seen: (string | undefined)[] = [];
    for (let at = 0; at < 20; at++) {
      seen.push(...(await take(watch, 4)));
      write(2);
    }
    seen.push(...(await take(watch, expected.length - seen.length)));
    assert.deepEqual(seen, expected);
    assert.ok(state.reads > 5);
    const reads = state.reads;
    write(1);
    assert.deepEqual(await take(watch, 1), expected.slice(-1));
    assert.equal(state.reads, reads, 'it is live now');
  });

  test('keeps a bounded queue: a slow watch goes back to the history and misses nothing', async () => {
    for (const queueLengthMax of [1, 2, 10]) {
      const { hub, publish } = world({ queueLengthMax, pageLength: 4 });
      const watch = hub.watch({ prefix: '' });
      const expected: string[] = [];
      for (let at = 0; at < 35; at++) expected.push(`${publish('a')}: a`);
      assert.deepEqual(await take(watch, 35), expected);
      expected.push(`${publish('b')}: b`);
      assert.deepEqual(await take(watch, 1), expected.slice(-1));
    }
  });

  test('a read of the history that takes its time does not lose what is published meanwhile', async () => {
    const { hub, publish, state } = world();
    publish('a');
    const watch = hub.watch({ prefix: '', fromRevision: 2 as Revision });
    const { promise, resolve } = Promise.withResolvers<void>();
    state.pausedRead = promise;
    const next = watch.next();
    publish('b');
    publish('c');
    resolve();
    assert.deepEqual([lines(await next), ...(await take(watch, 2))], ['2: a', '3: b', '4: c']);
  });

  test('a watch that is behind the compaction is refused and stays refused', async () => {
    const { hub, publish, state } = world();
    for (let at = 0; at < 10; at++) publish('a');
    state.compacted = 5 as Revision;
    const refused = hub.watch({ prefix: '', fromRevision: 3 as Revision });
    for (let again = 0; again < 2; again++) await assert.rejects(refused.next(), { code: 'Compacted' });
    const fine = hub.watch({ prefix: '', fromRevision: 6 as Revision });
    assert.deepEqual(await take(fine, 1), ['6: a']);
  });

  test('a watch from revision 0 of a history that was never compacted begins at its beginning', async () => {
    const { hub, publish } = world();
    publish('a');
    const watch = hub.watch({ prefix: '', fromRevision: 0 as Revision });
    assert.deepEqual(await take(watch, 1), ['2: a']);
  });

  test('a compaction that overtakes a read of the history is told, not hidden', async () => {
    const { hub, publish, state } = world({ pageLength: 3 });
    for (let at = 0; at < 10; at++) publish('a');
    const watch = hub.watch({ prefix: '', fromRevision: 2 as Revision });
    assert.deepEqual(await take(watch, 3), ['2: a', '3: a', '4: a']);
    state.compacted = 8 as Revision;
    await assert.rejects(watch.next(), { code: 'Compacted', compactedRevision: 8 });
  });

  test('an error of the history ends the watch with it', async () => {
    const { hub, publish, state } = world();
    publish('a');
    state.pausedRead = Promise.reject(new StoreError('Unavailable', 'no answer'));
    const watch = hub.watch({ prefix: '', fromRevision: 2 as Revision });
    for (let again = 0; again < 2; again++) await assert.rejects(watch.next(), { code: 'Unavailable' });
  });

  test('closing the hub ends waiting, queued and later watches with its error', async () => {
    const { hub, publish } = world();
    const waiting = hub.watch({ prefix: 'nothing' });
    const queued = hub.watch({ prefix: '' });
    publish('a');
    const next = waiting.next();
    const reached = hub.reached(10 as Revision);
    hub.close(new StoreError('Unavailable', 'gone'));
    for (const ended of [next, queued.next(), reached, hub.watch({ prefix: '' }).next(), hub.reached(11 as Revision)]) {
      await assert.rejects(ended, { code: 'Unavailable' });
    }
  });

  test('a watch that was closed gets nothing more, and the others do', async () => {
    const { hub, publish } = world();
    const [closed, open] = [hub.watch({ prefix: 'a' }), hub.watch({ prefix: 'a' })];
    const next = closed.next();
    closed.close();
    publish('a');
    assert.equal(await next, undefined);
    assert.equal(await closed.next(), undefined);
    assert.deepEqual(await take(open, 1), ['2: a']);
  });
});

describe('progress marks of the hub', () => {
  test('come behind what is queued, with the revision of the hub', async () => {
    const { hub, publish } = world();
    const watch = hub.watch({ prefix: 'a' });
    publish('a');
    watch.requestProgress();
    publish('b');
    assert.deepEqual(await take(watch, 2), ['2: a', '3: ']);
    hub.advance(9 as Revision);
    hub.advance(5 as Revision);
    watch.requestProgress();
    assert.deepEqual(await take(watch, 1), ['9: ']);
  });

  test('come only after a watch that is behind has caught up', async () => {
    const { hub, publish } = world({ pageLength: 2 });
    for (let at = 0; at < 6; at++) publish('a');
    const watch = hub.watch({ prefix: '', fromRevision: 2 as Revision });
    watch.requestProgress();
    const taken = await take(watch, 7);
    assert.deepEqual(taken.slice(5), ['7: a', '7: ']);
  });

  test('are asked for again when a request came while another was under way', async () => {
    const published: (() => void)[] = [];
    const { hub, publish } = world({ publishedUpTo: () => new Promise((resolve) => published.push(resolve)) });
    const watch = hub.watch({ prefix: 'quiet' });
    watch.requestProgress();
    publish('a'); // acknowledged only now: the next request is about this revision too
    watch.requestProgress();
    published[0]!();
    assert.deepEqual(await take(watch, 1), ['2: ']);
    publish('a');
    await new Promise(setImmediate);
    assert.equal(published.length, 2, 'the second request was never made');
    published[1]!();
    assert.deepEqual(await take(watch, 1), ['3: ']);
  });

  test('do not come when the stream broke, until it is asked again', async () => {
    const answers = [Promise.reject(new Error('broken')), Promise.resolve()];
    const { hub } = world({ publishedUpTo: () => answers.shift()! });
    const watch = hub.watch({ prefix: '' });
    watch.requestProgress();
    await new Promise(setImmediate);
    watch.requestProgress();
    assert.deepEqual(await take(watch, 1), ['1: ']);
    assert.equal(answers.length, 0);
  });

  test('the hub says when it reached a revision', async () => {
    const { hub, publish } = world();
    await hub.reached(1 as Revision);
    const reached: number[] = [];
    const waiting = [3, 2, 5].map((revision) => hub.reached(revision as Revision).then(() => reached.push(revision)));
    publish('a');
    await new Promise(setImmediate);
    assert.deepEqual(reached, [2]);
    publish('a');
    hub.advance(5 as Revision);
    await Promise.all(waiting);
    assert.deepEqual(reached, [2, 3, 5]);
  });
});
