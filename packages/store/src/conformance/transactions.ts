/** commit: all of the writes or none, under conditions. */

import assert from 'node:assert/strict';
import type { CommitResult, Conflicted, Revision } from '../contract.ts';
import type { Scenario } from './harness.ts';
import { refusal } from './subject.ts';
import type { Subject } from './subject.ts';
import { readAll, story } from './watching.ts';

const absent = 0 as Revision;

function conflicted(result: CommitResult): Conflicted {
  assert.ok(!result.committed, 'the transaction did not conflict');
  return result;
}

/** Current state of each conflicting key, as `name=text` or `name absent`. */
function conflictsOf(subject: Subject, result: CommitResult): string[] {
  const lines = conflicted(result).conflicts.map(({ key, entry }) => {
    assert.ok(!entry || entry.key === key);
    return entry ? `${subject.name(key)}=${subject.plain(entry).text}` : `${subject.name(key)} absent`;
  });
  return lines.sort();
}

export function transactions(scenario: Scenario): void {
  scenario('create if absent succeeds once', async (subject) => {
    const revision = await subject.put('a', 'first', { expected: absent });
    const again = await subject.store.commit([subject.write('a', 'second', { expected: absent })]);
    assert.deepEqual(conflictsOf(subject, again), ['a=first']);
    assert.equal(conflicted(again).conflicts[0]?.entry?.modRevision, revision);
    assert.ok(again.revision >= revision);
    assert.equal(await subject.text('a'), 'first');
    await subject.remove('a');
    await subject.put('a', 'third', { expected: absent });
  });

  scenario('compare and set succeeds only with the modRevision of now', async (subject) => {
    const first = await subject.put('a', '1');
    const second = await subject.put('a', '2', { expected: first });
    for (const expected of [first, absent, (second + 1) as Revision]) {
      const stale = await subject.store.commit([subject.write('a', 'stale', { expected })]);
      assert.deepEqual(conflictsOf(subject, stale), ['a=2']);
    }
    await subject.put('a', '3', { expected: second });
    assert.equal(await subject.text('a'), '3');
    const missing = await subject.store.commit([subject.write('b', '1', { expected: second })]);
    assert.deepEqual(conflictsOf(subject, missing), ['b absent']);
  });

  scenario('a conditional delete deletes only what its condition names', async (subject) => {
    const first = await subject.put('a', '1');
    const second = await subject.put('a', '2');
    const stale = await subject.store.commit([subject.deletion('a', { expected: first })]);
    assert.deepEqual(conflictsOf(subject, stale), ['a=2']);
    const { deleted, revision } = await subject.commit(subject.deletion('a', { expected: second }));
    assert.equal(deleted, 1);
    assert.ok(revision > second);
    assert.equal(await subject.text('a'), undefined);
    const gone = await subject.store.commit([subject.deletion('a', { expected: second })]);
    assert.deepEqual(conflictsOf(subject, gone), ['a absent']);
  });

  scenario('one failed condition and nothing of the transaction happens', async (subject) => {
    const a = await subject.put('a', '1');
    await subject.put('b', '1');
    const watch = subject.watch();
    const result = await subject.store.commit([
      subject.write('a', '2', { expected: a }),
      subject.write('b', '2', { expected: a }),
      subject.write('c', '2', { expected: absent }),
      { type: 'check', key: subject.key('d'), expected: a },
      subject.deletion('e', { expected: absent }),
      { type: 'deleteRange', range: subject.below('f') },
    ]);
    assert.deepEqual(conflictsOf(subject, result), ['b=1', 'd absent']);
    assert.deepEqual(await subject.list(), ['a=1', 'b=1']);
    assert.deepEqual(await readAll(subject, watch), []);
  });

  scenario('all writes of a transaction share its revision', async (subject) => {
    await subject.put('gone', '1');
    const { revision, deleted } = await subject.commit(
      subject.write('a', '1'),
      subject.write('b', '2', { expected: absent }),
      subject.deletion('gone'),
      subject.write('c', '3'),
    );
    assert.equal(deleted, 1);
    const { entries } = await subject.store.range(subject.below());
    assert.deepEqual(
      entries.map(({ modRevision, createRevision, version }) => [modRevision, createRevision, version]),
      [
        [revision, revision, 1],
        [revision, revision, 1],
        [revision, revision, 1],
      ],
    );
    assert.ok((await subject.put('d', '4')) > revision);
  });

  scenario('a check alone guards the writes beside it and changes nothing itself', async (subject) => {
    const guard = await subject.put('guard', '1');
    const watch = subject.watch();
    await subject.commit(
      { type: 'check', key: subject.key('guard'), expected: guard },
      { type: 'check', key: subject.key('absent'), expected: absent },
      subject.write('a', '1'),
    );
    await subject.put('guard', '2');
    const refused = await subject.store.commit([
      { type: 'check', key: subject.key('guard'), expected: guard },
      subject.write('a', '2'),
    ]);
    assert.deepEqual(conflictsOf(subject, refused), ['guard=2']);
    assert.deepEqual(story(subject, await readAll(subject, watch)), ['put a=1', 'put guard=2']);
    assert.equal((await subject.entry('guard'))?.version, 2);
  });

  scenario('a range delete deletes exactly its range, counts, and shares its revision', async (subject) => {
    await subject.populate(['a/1', 'a/2', 'a/3', 'b/1']);
    const watch = subject.watch({ previous: true });
    const { deleted, revision } = await subject.commit(
      { type: 'deleteRange', range: subject.below('a/') },
      subject.write('c', '1'),
    );
    assert.equal(deleted, 3);
    assert.deepEqual(await subject.list(), ['b/1=b/1', 'c=1']);
    const batches = await readAll(subject, watch);
    assert.deepEqual(story(subject, batches), [
      'delete a/1 (was a/1), delete a/2 (was a/2), delete a/3 (was a/3), put c=1',
    ]);
    assert.equal(batches[0]?.revision, revision);
  });

  scenario('a range delete respects its bounds, and one without an end goes to the last key', async (subject) => {
    await subject.populate(['a', 'b', 'c', 'd']);
    const middle = { start: subject.key('b'), end: subject.key('d') };
    assert.equal((await subject.commit({ type: 'deleteRange', range: middle })).deleted, 2);
    assert.deepEqual(await subject.list(), ['a=a', 'd=d']);
    const reversed = { start: subject.key('d'), end: subject.key('a') };
    assert.equal((await subject.commit({ type: 'deleteRange', range: reversed })).deleted, 0);
    assert.deepEqual(await subject.list(), ['a=a', 'd=d']);
    assert.equal((await subject.commit({ type: 'deleteRange', range: subject.below() })).deleted, 2);
  });

  scenario('a range delete of thousands of keys is one transaction', async (subject) => {
    const names = Array.from({ length: 3_000 }, (_, at) => `k${at}`);
    await subject.populate(names);
    const watch = subject.watch();
    const { deleted, revision } = await subject.commit({ type: 'deleteRange', range: subject.below() });
    assert.equal(deleted, names.length);
    const batches = await readAll(subject, watch);
    assert.deepEqual(
      batches.map((batch) => [batch.revision, batch.events.length]),
      [[revision, names.length]],
    );
    assert.deepEqual(await subject.list(), []);
  });

  scenario('a transaction that deletes nothing has no effect and leaves the revision', async (subject) => {
    const last = await subject.put('a', '1');
    const watch = subject.watch();
    const unchanged: boolean[] = [];
    // On a shared server another test may move the revision between the two calls. Five attempts are enough.
    for (let attempt = 0; attempt < 5; attempt++) {
      const before = await subject.store.revision();
      const result = await subject.commit(
        subject.deletion('absent'),
        subject.deletion('absent too', { expected: absent }),
        { type: 'deleteRange', range: subject.below('nothing/') },
        { type: 'check', key: subject.key('a'), expected: last },
      );
      assert.equal(result.deleted, 0);
      assert.ok(result.revision >= before);
      unchanged.push(result.revision === before);
    }
    assert.ok(unchanged.includes(true), 'the revision moved with every transaction without effect');
    assert.deepEqual(await readAll(subject, watch), []);
    assert.equal((await subject.entry('a'))?.modRevision, last);
  });

  scenario('a put of the same value is a write like any other', async (subject) => {
    const first = await subject.put('a', 'same');
    const second = await subject.put('a', 'same');
    assert.ok(second > first);
    assert.equal((await subject.entry('a'))?.version, 2);
  });

  scenario('version and createRevision begin anew after a deletion', async (subject) => {
    const created = await subject.put('a', '1');
    await subject.put('a', '2');
    const third = await subject.put('a', '3');
    assert.deepEqual(await subject.entry('a'), {
      name: 'a',
      text: '3',
      createRevision: created,
      modRevision: third,
      version: 3,
      lease: undefined,
    });
    await subject.remove('a');
    const again = await subject.put('a', '4');
    const entry = await subject.entry('a');
    assert.deepEqual([entry?.createRevision, entry?.modRevision, entry?.version], [again, again, 1]);
  });

  scenario('a transaction that names a key twice is refused', async (subject) => {
    const a = await subject.put('a', '1');
    const twice = [
      [subject.write('a', '2'), subject.write('a', '3')],
      [subject.write('a', '2'), subject.deletion('a')],
      [subject.deletion('a'), subject.deletion('a')],
      [subject.write('a', '2'), { type: 'check' as const, key: subject.key('a'), expected: a }],
    ];
    for (const writes of twice) assert.equal(await refusal(() => subject.store.commit(writes)), 'InvalidRequest');
    assert.deepEqual(await subject.list(), ['a=1']);
  });

  scenario('a transaction that changes a key which it also deletes by range is refused', async (subject) => {
    await subject.put('a/1', '1');
    const range = { type: 'deleteRange' as const, range: subject.below('a/') };
    const overlapping = [
      [range, subject.write('a/2', '2')],
      [subject.deletion('a/1'), range],
      [range, { type: 'deleteRange' as const, range: subject.below('a/1') }],
      [range, { type: 'deleteRange' as const, range: subject.below() }],
    ];
    for (const writes of overlapping) assert.equal(await refusal(() => subject.store.commit(writes)), 'InvalidRequest');
    assert.deepEqual(await subject.list(), ['a/1=1']);
  });

  scenario('a check of a key that is deleted by range is allowed', async (subject) => {
    const revision = await subject.put('a/1', '1');
    const check = { type: 'check' as const, key: subject.key('a/1'), expected: revision };
    const range = { type: 'deleteRange' as const, range: subject.below('a/') };
    assert.equal((await subject.commit(check, range)).deleted, 1);
    const again = await subject.store.commit([check, range]);
    assert.deepEqual(conflictsOf(subject, again), ['a/1 absent']);
  });

  scenario('a transaction sees nothing of one that conflicted before it', async (subject) => {
    await subject.put('a', '1');
    const [bad, good] = await Promise.all([
      subject.store.commit([subject.write('a', 'bad', { expected: absent }), subject.write('b', 'bad')]),
      subject.store.commit([subject.write('b', 'good', { expected: absent })]),
    ]);
    assert.equal(bad.committed, false);
    assert.equal(good.committed, true);
    assert.deepEqual(await subject.list(), ['a=1', 'b=good']);
  });
}
