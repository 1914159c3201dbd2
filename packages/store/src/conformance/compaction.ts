/** compact: history is removed, current entries stay, and every watch that misses events fails with an error. */

import assert from 'node:assert/strict';
import type { Revision, Watch, WatchBatch } from '../contract.ts';
import type { CompactedError } from '../errors.ts';
import type { Scenario } from './harness.ts';
import { concurrently, during, refusal } from './subject.ts';
import { checkOrder, readUntil, story } from './watching.ts';

/** Reads until the watch rejects. Returns the batches before the rejection, and its error. */
async function readUntilRejected(watch: Watch): Promise<{ batches: WatchBatch[]; error: CompactedError }> {
  const batches: WatchBatch[] = [];
  try {
    for (let batch = await watch.next(); batch; batch = await watch.next()) {
      checkOrder(batches.at(-1), batch);
      batches.push(batch);
    }
  } catch (error) {
    return { batches, error: error as CompactedError };
  }
  throw new assert.AssertionError({ message: 'the watch ended without an error' });
}

export function compaction(scenario: Scenario): void {
  scenario('reads before the compacted revision are refused, at it and after it they are right', async (subject) => {
    const revisions = [
      await subject.put('a', '1'),
      await subject.put('b', '1'),
      await subject.put('a', '2'),
      await subject.remove('b'),
      await subject.put('a', '3'),
      await subject.put('b', '2'),
    ];
    const at = async (revision: Revision) => (await subject.list({ atRevision: revision })).join(' ');
    const before = await Promise.all(revisions.map(at));
    for (const [place, compacted] of revisions.entries()) {
      await subject.store.compact(compacted);
      for (const [other, atRevision] of revisions.entries()) {
        if (other < place) {
          const { store } = subject;
          assert.equal(await refusal(() => store.get(subject.key('a'), { atRevision })), 'Compacted');
          assert.equal(await refusal(() => store.range(subject.below(), { atRevision })), 'Compacted');
          assert.equal(await refusal(() => store.statistics(subject.below(), { atRevision })), 'Compacted');
        } else {
          assert.equal(await at(atRevision), before[other]);
        }
      }
      assert.deepEqual(await subject.list(), ['a=3', 'b=2']);
    }
    const entry = await subject.entry('a');
    assert.deepEqual([entry?.version, entry?.createRevision, entry?.modRevision], [3, revisions[0], revisions[4]]);
  });

  scenario('an error of compaction says where the history begins', async (subject) => {
    const old = await subject.put('a', '1');
    const compacted = await subject.put('a', '2');
    await subject.store.compact(compacted);
    await assert.rejects(subject.text('a', old), (error: CompactedError) => {
      assert.equal(error.code, 'Compacted');
      assert.ok(error.compactedRevision >= compacted);
      return true;
    });
    const { error } = await readUntilRejected(subject.watch({ fromRevision: old }));
    assert.equal(error.code, 'Compacted');
    assert.ok(error.compactedRevision >= compacted);
    const last = await subject.put('a', '3');
    const again = subject.watch({ fromRevision: (error.compactedRevision + 1) as Revision });
    assert.deepEqual(story(subject, await readUntil(again, last)), ['put a=3']);
  });

  scenario('compacting again, or to an older revision, changes nothing', async (subject) => {
    const old = await subject.put('a', '1');
    const compacted = await subject.put('a', '2');
    const later = await subject.put('a', '3');
    await subject.store.compact(compacted);
    await subject.store.compact(compacted);
    await subject.store.compact(old);
    assert.equal(await refusal(() => subject.text('a', old)), 'Compacted');
    assert.equal(await subject.text('a', compacted), '2');
    assert.equal(await subject.text('a', later), '3');
    await Promise.all([later, compacted, later].map((revision) => subject.store.compact(revision)));
    assert.equal(await refusal(() => subject.text('a', compacted)), 'Compacted');
    assert.equal(await subject.text('a', later), '3');
  });

  scenario('the future cannot be compacted', async (subject) => {
    const current = await subject.put('a', '1');
    const future = (current + 1_000_000) as Revision;
    assert.equal(await refusal(() => subject.store.compact(future)), 'FutureRevision');
    assert.equal(await subject.text('a', current), '1');
  });

  scenario('the current revision can be compacted at any moment, also amid writers', async (subject) => {
    await concurrently(400, 16, async (at) => {
      await subject.put(`k${at % 20}`, String(at));
      if (at % 10 === 0) await subject.store.compact(await subject.store.revision());
    });
    assert.equal((await subject.list()).length, 20);
  });

  scenario('deleted keys are gone after compaction and can be created again', async (subject) => {
    await subject.put('a', '1');
    const removed = await subject.remove('a');
    await subject.store.compact(removed);
    assert.equal(await subject.entry('a'), undefined);
    assert.equal(await subject.entry('a', removed), undefined);
    const created = await subject.put('a', '2', { expected: 0 as Revision });
    const entry = await subject.entry('a');
    assert.deepEqual([entry?.version, entry?.createRevision], [1, created]);
    await subject.store.compact(created);
    assert.equal(await subject.text('a'), '2');
  });

  scenario('a watch that begins before the compacted revision is refused and stays refused', async (subject) => {
    const old = await subject.put('a', '1');
    await subject.put('a', '2');
    const compacted = await subject.put('a', '3');
    await subject.store.compact(compacted);
    const watch = subject.watch({ fromRevision: old });
    for (let again = 0; again < 3; again++) assert.equal(await refusal(() => watch.next()), 'Compacted');
    await subject.put('a', '4');
    assert.equal(await refusal(() => watch.next()), 'Compacted');
    const looping = async () => {
      for await (const batch of subject.watch({ fromRevision: old })) assert.fail(`got ${batch.revision}`);
    };
    assert.equal(await refusal(looping), 'Compacted');
  });

  scenario('a watch behind the compacted revision has everything, previous values too', async (subject) => {
    await subject.put('a', '1');
    await subject.put('b', '1');
    const compacted = await subject.put('a', '2');
    await subject.put('a', '3');
    await subject.remove('b');
    const last = await subject.put('b', '2');
    await subject.store.compact(compacted);
    const watch = subject.watch({ fromRevision: (compacted + 1) as Revision, previous: true });
    assert.deepEqual(story(subject, await readUntil(watch, last)), ['put a=3 (was 2)', 'delete b (was 1)', 'put b=2']);
  });

  scenario('a watch from exactly the compacted revision shows all of it or is refused', async (subject) => {
    await subject.put('a', '1');
    await subject.put('b', '1');
    const { revision: compacted } = await subject.commit(
      subject.write('a', '2'),
      subject.deletion('b'),
      subject.write('c', '1'),
    );
    const last = await subject.put('a', '3');
    await subject.store.compact(compacted);
    const watch = subject.watch({ fromRevision: compacted });
    const code = await refusal(async () => {
      const batches = await readUntil(watch, last);
      assert.deepEqual(story(subject, batches), ['delete b, put a=2, put c=1', 'put a=3']);
    });
    assert.ok(code === 'not refused' || code === 'Compacted', code);
  });

  scenario('a watch that is up to date does not notice a compaction', async (subject) => {
    const watch = subject.watch({ previous: true });
    const first = await subject.put('a', '1');
    assert.deepEqual(story(subject, await readUntil(watch, first)), ['put a=1']);
    for (let round = 2; round < 10; round++) {
      const revision = await subject.put('a', String(round));
      await subject.store.compact(revision);
      const batches = await readUntil(watch, revision);
      assert.deepEqual(story(subject, batches), [`put a=${round} (was ${round - 1})`]);
    }
  });

  scenario('a waiting watch of a quiet prefix survives compactions', async (subject) => {
    const quiet = subject.watch({ prefix: subject.key('quiet/') });
    const waiting = quiet.next();
    for (let round = 0; round < 5; round++) await subject.store.compact(await subject.put('busy', String(round)));
    const revision = await subject.put('quiet/a', '1');
    const batch = await waiting;
    const batches = batch!.events.length > 0 ? [batch!] : await readUntil(quiet, revision);
    assert.deepEqual(story(subject, batches), ['put quiet/a=1']);
  });

  scenario('a sleeper that falls behind the compaction is told so, with no gap before', async (subject) => {
    const watch = subject.watch();
    const made = await concurrently(5_000, 64, (at) => subject.put(`k${at % 50}`, String(at)));
    made.sort((a, b) => a - b);
    const last = made.at(-1)!;
    await subject.store.compact(last);
    const seen: Revision[] = [];
    const code = await refusal(async () => {
      while (seen.at(-1) !== last) {
        const batch = await watch.next();
        if (batch!.events.length > 0) seen.push(batch!.revision);
      }
    });
    assert.deepEqual(seen, made.slice(0, seen.length), 'what came before the error has a gap');
    assert.ok(code === 'not refused' || code === 'Compacted', code);
    if (code === 'not refused') assert.equal(seen.length, made.length);
    else assert.equal(await refusal(() => watch.next()), 'Compacted');
  });

  scenario(
    'a long list of the present is complete, however often its revision is compacted meanwhile',
    async (subject) => {
      const names = Array.from({ length: 5_000 }, (_, at) => `k${String(at).padStart(4, '0')}`);
      await subject.populate(names);
      const writer = (async () => {
        for (let at = 0; at < 60; at++) await subject.store.compact(await subject.put('k0000', String(at)));
      })();
      await during(writer, async () => {
        const { entries } = await subject.store.range(subject.below(), { keysOnly: true });
        assert.deepEqual(
          entries.map((entry) => subject.name(entry.key)),
          names,
        );
      });
    },
  );

  scenario('a long history is compacted and the present is complete', async (subject) => {
    const names = Array.from({ length: 300 }, (_, at) => `k${String(at).padStart(3, '0')}`);
    for (let round = 0; round < 5; round++) await subject.populate(names, (name) => `${name}-${round}`);
    const { revision: removed } = await subject.commit({ type: 'deleteRange', range: subject.below('k1') });
    const last = await subject.put('end', 'end');
    await subject.store.compact(removed);
    for (const atRevision of [undefined, removed, last]) {
      const list = await subject.list(atRevision === undefined ? {} : { atRevision });
      const kept = names.filter((name) => !name.startsWith('k1')).map((name) => `${name}=${name}-4`);
      assert.deepEqual(list, atRevision === removed ? kept : ['end=end', ...kept]);
    }
  });
}
