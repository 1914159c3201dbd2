/** Orders: of keys by their bytes, of revisions by time, of the operations of concurrent clients. */

import assert from 'node:assert/strict';
import type { Revision } from '../contract.ts';
import { successor } from '../keys.ts';
import type { Scenario } from './harness.ts';
import { concurrently, during } from './subject.ts';

/** In the order of their UTF-8 bytes, which is not that of UTF-16 from U+E000 on. */
const namesInOrder = [
  ' ',
  '!',
  '-',
  '.',
  '/',
  '0',
  '00',
  '10',
  '9',
  'A',
  'Z',
  '_',
  'a',
  'a ',
  'a!',
  'a/',
  'a/b',
  'a0',
  'aa',
  'z',
  '~',
  '\u0080',
  'é',
  'ÿ',
  '߿',
  'ࠀ',
  '中',
  '\ud7ff',
  '\ue000',
  '\uf8ff',
  '\ufffd',
  '\uffff',
  '\u{10000}',
  '\u{10000}a',
  '😀',
  '😀\uffff',
  '😀😀',
  '\u{10ffff}',
];

export function ordering(scenario: Scenario): void {
  scenario('keys are ordered by their UTF-8 bytes', async (subject) => {
    const shuffled = namesInOrder.map((name, at) => [name, (at * 17) % namesInOrder.length] as const);
    await subject.populate(shuffled.sort((a, b) => a[1] - b[1]).map(([name]) => name));
    const { entries, revision } = await subject.store.range(subject.below());
    assert.deepEqual(
      entries.map((entry) => subject.name(entry.key)),
      namesInOrder,
    );
    await subject.put('a', 'changed');
    const past = await subject.store.range(subject.below(), { atRevision: revision });
    assert.deepEqual(
      past.entries.map((entry) => subject.name(entry.key)),
      namesInOrder,
    );
  });

  scenario('bounds cut between keys by their UTF-8 bytes', async (subject) => {
    await subject.populate(namesInOrder);
    for (let from = 0; from < namesInOrder.length; from += 3) {
      for (const to of [from + 1, from + 2, namesInOrder.length - 1]) {
        if (to >= namesInOrder.length) continue;
        const bounds = { start: subject.key(namesInOrder[from]!), end: subject.key(namesInOrder[to]!) };
        const { entries } = await subject.store.range(bounds, { keysOnly: true });
        assert.deepEqual(
          entries.map((entry) => subject.name(entry.key)),
          namesInOrder.slice(from, to),
        );
      }
    }
  });

  scenario('paging with successors visits each unusual key once', async (subject) => {
    await subject.populate(namesInOrder);
    const visited: string[] = [];
    const range = subject.below();
    for (let start = range.start, more = true; more;) {
      const page = await subject.store.range({ ...range, start }, { limit: 1 });
      visited.push(...page.entries.map((entry) => subject.name(entry.key)));
      start = successor(page.entries.at(-1)!.key);
      more = page.more;
    }
    assert.deepEqual(visited, namesInOrder);
  });

  scenario('unusual keys are read, watched and deleted like any other', async (subject) => {
    const watch = subject.watch();
    for (const name of namesInOrder) {
      const revision = await subject.put(name, name);
      assert.equal(await subject.text(name), name);
      const batch = await watch.next();
      assert.equal(batch?.revision, revision);
      const event = batch.events[0];
      assert.equal(event?.type === 'put' && subject.name(event.entry.key), name);
    }
    for (const name of namesInOrder) await subject.remove(name);
    assert.deepEqual(await subject.list(), []);
  });

  scenario('revisions grow with every transaction', async (subject) => {
    let last = await subject.store.revision();
    for (let at = 0; at < 20; at++) {
      const revision = await subject.put(`k${at % 3}`, String(at));
      assert.ok(revision > last, `${revision} after ${last}`);
      last = revision;
      assert.ok((await subject.store.revision()) >= revision);
    }
  });

  scenario('concurrent transactions get revisions of their own', async (subject) => {
    const revisions = await concurrently(200, 50, (at) => subject.put(`k${at}`, String(at)));
    assert.equal(new Set(revisions).size, 200);
    const { entries } = await subject.store.range(subject.below());
    const stored = new Map(entries.map((entry) => [subject.name(entry.key), entry.modRevision]));
    revisions.forEach((revision, at) => assert.equal(stored.get(`k${at}`), revision));
  });

  scenario('a read sees everything that was acknowledged before it', async (subject) => {
    await concurrently(300, 12, async (at) => {
      const name = `k${at % 7}`;
      const revision = await subject.put(name, String(at));
      const [{ entry, revision: read }, list, current] = await Promise.all([
        subject.store.get(subject.key(name)),
        subject.store.range(subject.below()),
        subject.store.revision(),
      ]);
      assert.ok(entry && entry.modRevision >= revision);
      assert.ok(read >= entry.modRevision);
      assert.ok(list.revision >= revision && current >= revision);
      assert.ok(list.entries.some((listed) => listed.key === entry.key && listed.modRevision >= revision));
    });
  });

  scenario('a list is of one moment even while writers move a value between two keys', async (subject) => {
    let holder = 0;
    let holds = await subject.put('0', 'token');
    const writer = (async () => {
      for (let move = 0; move < 150; move++) {
        const next = 1 - holder;
        const { revision } = await subject.commit(
          subject.deletion(String(holder), { expected: holds }),
          subject.write(String(next), 'token', { expected: 0 as Revision }),
        );
        [holder, holds] = [next, revision];
      }
    })();
    const lists = await during(writer, async () => {
      const { entries, revision } = await subject.store.range(subject.below());
      assert.equal(entries.length, 1, 'the token was seen twice or not at all');
      assert.ok(entries[0]!.modRevision <= revision);
    });
    assert.ok(lists > 0);
  });

  scenario('64 increments of one counter by compare and set lose nothing', async (subject) => {
    const increment = async () => {
      for (;;) {
        const { entry } = await subject.store.get(subject.key('counter'));
        const count = entry ? Number(subject.plain(entry).text) : 0;
        const expected = entry?.modRevision ?? (0 as Revision);
        const result = await subject.store.commit([subject.write('counter', String(count + 1), { expected })]);
        if (result.committed) return;
      }
    };
    await Promise.all(Array.from({ length: 64 }, increment));
    const counter = await subject.entry('counter');
    assert.deepEqual([counter?.text, counter?.version], ['64', 64]);
  });

  scenario('of many who create the same key at once one succeeds', async (subject) => {
    const results = await concurrently(40, 40, (at) =>
      subject.store.commit([subject.write('leader', String(at), { expected: 0 as Revision })]),
    );
    const winners = results.flatMap((result, at) => (result.committed ? [at] : []));
    assert.equal(winners.length, 1);
    assert.equal(await subject.text('leader'), String(winners[0]));
    for (const result of results) {
      if (!result.committed) assert.equal(subject.plain(result.conflicts[0]!.entry!).text, String(winners[0]));
    }
  });
}
