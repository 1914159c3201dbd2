/** get, range and statistics, of the present and of the past. */

import assert from 'node:assert/strict';
import type { Entry, Revision } from '../contract.ts';
import { compareKeys, successor } from '../keys.ts';
import type { Scenario } from './harness.ts';
import { refusal, textOf } from './subject.ts';

export function reads(scenario: Scenario): void {
  scenario('a key that nobody wrote has no entry, at a revision all the same', async (subject) => {
    const { entry, revision } = await subject.store.get(subject.key('absent'));
    assert.equal(entry, undefined);
    assert.ok(Number.isSafeInteger(revision) && revision > 0);
  });

  scenario('get answers everything about the newest entry, and the revision that was read', async (subject) => {
    const first = await subject.put('a', 'one');
    const second = await subject.put('a', 'two');
    const { entry, revision } = await subject.store.get(subject.key('a'));
    assert.ok(entry);
    assert.deepEqual(subject.plain(entry), {
      name: 'a',
      text: 'two',
      createRevision: first,
      modRevision: second,
      version: 2,
      lease: undefined,
    });
    assert.ok(revision >= second);
    assert.ok((await subject.store.revision()) >= revision);
  });

  scenario('a value keeps every byte, and an empty one is a value', async (subject) => {
    const bytes = Uint8Array.from({ length: 256 }, (_, at) => at);
    await subject.commit({ type: 'put', key: subject.key('bytes'), value: bytes }, subject.write('empty', ''));
    const { entry } = await subject.store.get(subject.key('bytes'));
    assert.deepEqual(Uint8Array.from(entry!.value), bytes);
    const empty = await subject.store.get(subject.key('empty'));
    assert.ok(empty.entry?.value instanceof Uint8Array);
    assert.equal(empty.entry.value.length, 0);
    assert.deepEqual(await subject.list({ limit: 0 }).then((all) => all.length), 2);
  });

  scenario('get at a revision answers the entry of that moment, deleted and re-created keys too', async (subject) => {
    const before = await subject.put('other', 'x');
    const created = await subject.put('a', '1');
    const changed = await subject.put('a', '2');
    const removed = await subject.remove('a');
    const recreated = await subject.put('a', '3');
    const last = await subject.put('other', 'y');
    assert.equal(await subject.entry('a', before), undefined);
    assert.deepEqual(await subject.entry('a', created), {
      name: 'a',
      text: '1',
      createRevision: created,
      modRevision: created,
      version: 1,
      lease: undefined,
    });
    const second = await subject.entry('a', changed);
    assert.deepEqual(
      [second?.text, second?.createRevision, second?.modRevision, second?.version],
      ['2', created, changed, 2],
    );
    assert.equal(await subject.entry('a', removed), undefined);
    const third = await subject.entry('a', last);
    assert.deepEqual(
      [third?.text, third?.createRevision, third?.modRevision, third?.version],
      ['3', recreated, recreated, 1],
    );
    const { revision } = await subject.store.get(subject.key('a'), { atRevision: changed });
    assert.equal(revision, changed, 'a read of the past answers the revision that it read');
  });

  scenario('revision 0 is before everything: reading there never shows the present', async (subject) => {
    await subject.put('a', '1');
    const read = () => subject.store.get(subject.key('a'), { atRevision: 0 as Revision });
    const code = await refusal(async () => assert.equal((await read()).entry, undefined));
    assert.ok(code === 'not refused' || code === 'Compacted', code);
  });

  scenario('a revision that has not been yet cannot be read', async (subject) => {
    await subject.put('a', '1');
    const atRevision = ((await subject.store.revision()) + 1_000_000) as Revision;
    const { store } = subject;
    assert.equal(await refusal(() => store.get(subject.key('a'), { atRevision })), 'FutureRevision');
    assert.equal(await refusal(() => store.range(subject.below(), { atRevision })), 'FutureRevision');
    assert.equal(await refusal(() => store.statistics(subject.below(), { atRevision })), 'FutureRevision');
  });

  scenario('a prefix range holds exactly the keys with the prefix', async (subject) => {
    await subject.populate(['a', 'a/', 'a/1', 'a/2', 'a0', 'b/1', 'a/\u{10ffff}', 'a/\uffff', 'a.']);
    const { entries, more } = await subject.store.range(subject.below('a/'));
    assert.deepEqual(
      entries.map((entry) => subject.name(entry.key)),
      ['a/', 'a/1', 'a/2', 'a/\uffff', 'a/\u{10ffff}'],
    );
    assert.equal(more, false);
  });

  scenario('a prefix may end with any character that a key may hold', async (subject) => {
    for (const last of ['~', 'ÿ', '\u07ff', '\ud7ff', '\uffff', '\u{10ffff}', ' ']) {
      await subject.populate([`p${last}`, `p${last}1`, `q${last}`]);
      const { entries } = await subject.store.range(subject.below(`p${last}`));
      assert.deepEqual(
        entries.map((entry) => subject.name(entry.key)),
        [`p${last}`, `p${last}1`],
      );
    }
  });

  scenario('a range includes its start and excludes its end', async (subject) => {
    await subject.populate(['a', 'b', 'c', 'd']);
    const between = async (start: string, end: string) => {
      const { entries } = await subject.store.range({ start: subject.key(start), end: subject.key(end) });
      return entries.map((entry) => subject.name(entry.key)).join('');
    };
    assert.equal(await between('b', 'd'), 'bc');
    assert.equal(await between('aa', 'cc'), 'bc');
    assert.equal(await between('a', 'z'), 'abcd');
    assert.equal(await between('b', 'b'), '', 'a range from a key to itself is empty');
    assert.equal(await between('c', 'a'), '', 'a range that ends before it starts is empty');
    assert.equal(await between('x', 'z'), '');
    const one = await subject.store.range({ start: subject.key('b'), end: successor(subject.key('b')) });
    assert.equal(one.entries.length, 1);
  });

  scenario(
    'a range without an end goes to the last key of all, one that starts empty from the first',
    async (subject) => {
      await subject.populate(['a', 'b', 'c', '\u{10ffff}']);
      const own = (entries: readonly Entry[]) => entries.filter((entry) => entry.key.startsWith(subject.prefix));
      const toTheEnd = await subject.store.range({ start: subject.key('b') });
      assert.deepEqual(
        own(toTheEnd.entries).map((entry) => subject.name(entry.key)),
        ['b', 'c', '\u{10ffff}'],
      );
      const fromTheStart = await subject.store.range({ start: '', end: subject.key('c') });
      assert.deepEqual(
        own(fromTheStart.entries).map((entry) => subject.name(entry.key)),
        ['a', 'b'],
      );
      const all = await subject.store.range({ start: '' }, { keysOnly: true });
      assert.equal(own(all.entries).length, 4);
    },
  );

  scenario('a limit cuts the list and says whether there is more', async (subject) => {
    await subject.populate(['a', 'b', 'c']);
    const limited = async (limit: number) => {
      const { entries, more } = await subject.store.range(subject.below(), { limit });
      return [entries.map((entry) => subject.name(entry.key)).join(''), more];
    };
    assert.deepEqual(await limited(1), ['a', true]);
    assert.deepEqual(await limited(2), ['ab', true]);
    assert.deepEqual(await limited(3), ['abc', false]);
    assert.deepEqual(await limited(4), ['abc', false]);
    assert.deepEqual(await limited(0), ['abc', false]);
  });

  scenario('keys only leaves out values and nothing else', async (subject) => {
    const created = await subject.put('a', 'long value');
    const changed = await subject.put('a', 'longer value');
    for (const atRevision of [undefined, changed]) {
      const options = { keysOnly: true, ...(atRevision !== undefined && { atRevision }) };
      const { entries } = await subject.store.range(subject.below(), options);
      assert.deepEqual(
        entries.map((entry) => subject.plain(entry)),
        [{ name: 'a', text: '', createRevision: created, modRevision: changed, version: 2, lease: undefined }],
      );
    }
  });

  scenario('a range at a revision is the whole list of that moment', async (subject) => {
    const moments: { revision: Revision; list: string[] }[] = [];
    const remember = async (revision: Revision) => moments.push({ revision, list: await subject.list() });
    await remember(await subject.put('b', '1'));
    await remember(await subject.put('a', '1'));
    await remember(await subject.put('b', '2'));
    await remember(await subject.remove('a'));
    await remember((await subject.commit(subject.write('a', '3'), subject.deletion('b'))).revision);
    await remember((await subject.commit({ type: 'deleteRange', range: subject.below() })).revision);
    await remember(await subject.put('c', '1'));
    assert.deepEqual(
      moments.map((moment) => moment.list.join(' ')),
      ['b=1', 'a=1 b=1', 'a=1 b=2', 'b=2', 'a=3', '', 'c=1'],
    );
    for (const { revision, list } of moments) {
      assert.deepEqual(await subject.list({ atRevision: revision }), list);
      const limited = await subject.store.range(subject.below(), { atRevision: revision, limit: 1 });
      assert.equal(limited.revision, revision);
      assert.equal(limited.entries.length, Math.min(1, list.length));
      assert.equal(limited.more, list.length > 1);
    }
  });

  scenario('a list of thousands is complete and in order, with and without a limit', async (subject) => {
    const names = Array.from({ length: 4_500 }, (_, at) => `k${String(at).padStart(5, '0')}`);
    await subject.populate(names);
    const { entries, more } = await subject.store.range(subject.below());
    assert.deepEqual(
      entries.map((entry) => `${subject.name(entry.key)} ${textOf(entry.value)}`),
      names.map((name) => `${name} ${name}`),
    );
    assert.equal(more, false);
    for (const limit of [999, 1_000, 1_001, 1_999, 2_000, 2_001, 4_000, 4_499, 4_500, 4_501]) {
      const page = await subject.store.range(subject.below(), { limit, keysOnly: true });
      assert.equal(page.entries.length, Math.min(limit, names.length));
      assert.equal(page.more, limit < names.length, `limit ${limit}`);
    }
  });

  scenario('pages at a pinned revision make one list, whatever writers do meanwhile', async (subject) => {
    const names = Array.from({ length: 60 }, (_, at) => `k${String(at).padStart(3, '0')}`);
    await subject.populate(names);
    const range = subject.below();
    const paged: string[] = [];
    let pinned: Revision | undefined;
    for (let start = range.start, more = true; more;) {
      const options = { limit: 7, ...(pinned !== undefined && { atRevision: pinned }) };
      const page = await subject.store.range({ ...range, start }, options);
      pinned ??= page.revision;
      assert.equal(page.revision, pinned);
      for (const entry of page.entries) paged.push(`${subject.name(entry.key)}=${textOf(entry.value)}`);
      start = successor(page.entries.at(-1)!.key);
      more = page.more;
      const at = paged.length;
      await subject.commit(
        subject.write(names[at % 60]!, 'changed'),
        subject.deletion(names[(at + 20) % 60]!),
        subject.write(`${names[(at + 5) % 60]!}-new`, 'new'),
      );
    }
    assert.deepEqual(
      paged,
      names.map((name) => `${name}=${name}`),
    );
  });

  scenario(
    'statistics count the keys and bytes of a range, now and at a revision, without history',
    async (subject) => {
      const sizes = (entries: readonly Entry[]) =>
        entries.reduce((sum, entry) => sum + Buffer.byteLength(entry.key) + entry.value.length, 0);
      const revisions = [
        await subject.put('a', 'x'.repeat(1_000)),
        await subject.put('a', 'x'.repeat(10)),
        await subject.put('ключ-🔑', 'значение'),
        await subject.put('b/1', ''),
        await subject.remove('a'),
      ];
      assert.deepEqual(
        await Promise.all(
          revisions.map(async (atRevision) => (await subject.store.statistics(subject.below(), { atRevision })).keys),
        ),
        [1, 1, 2, 3, 2],
      );
      for (const atRevision of revisions) {
        const { bytes, revision } = await subject.store.statistics(subject.below(), { atRevision });
        const { entries } = await subject.store.range(subject.below(), { atRevision });
        assert.equal(bytes, sizes(entries));
        assert.equal(revision, atRevision);
      }
      const now = await subject.store.statistics(subject.below());
      const { entries } = await subject.store.range(subject.below());
      assert.deepEqual([now.keys, now.bytes], [2, sizes(entries)]);
      assert.ok(now.revision >= revisions.at(-1)!);
      const nothing = await subject.store.statistics(subject.below('nothing/'));
      assert.deepEqual([nothing.keys, nothing.bytes], [0, 0]);
    },
  );

  scenario('a range of nothing is empty', async (subject) => {
    const { entries, more, revision } = await subject.store.range(subject.below('nothing/'), { limit: 5 });
    assert.deepEqual([entries.length, more], [0, false]);
    assert.ok(revision > 0);
  });

  scenario('entries come in key order at every revision', async (subject) => {
    const names = ['z', 'm', 'a', 'm/1', 'm.1', 'm1', 'M'];
    const revisions = [];
    for (const name of names) revisions.push(await subject.put(name, '1'));
    for (const name of ['m', 'a']) revisions.push(await subject.remove(name));
    for (const atRevision of revisions) {
      const keys = (await subject.store.range(subject.below(), { atRevision })).entries.map((entry) => entry.key);
      assert.deepEqual(keys, [...keys].sort(compareKeys));
    }
  });
}
