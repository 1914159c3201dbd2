/** Progress marks: a batch without events that promises what has been delivered. */

import assert from 'node:assert/strict';
import type { Revision, WatchBatch } from '../contract.ts';
import type { Scenario } from './harness.ts';
import { concurrently } from './subject.ts';
import { readAll, readUntil, readWhile, story } from './watching.ts';

const isMark = (batch: WatchBatch) => batch.events.length === 0;

export function progress(scenario: Scenario): void {
  scenario('a mark is at least at the revision that was current when it was asked for', async (subject) => {
    const watch = subject.watch({ prefix: subject.key('quiet/') });
    for (let round = 0; round < 10; round++) {
      const current = await subject.put('elsewhere', String(round));
      watch.requestProgress();
      const marks = await readWhile(watch, (batch) => batch.revision < current);
      assert.ok(marks.every(isMark));
      assert.ok(marks.at(-1)!.revision <= (await subject.store.revision()), 'a mark of the future');
    }
  });

  scenario('a mark comes after the events that it covers', async (subject) => {
    const watch = subject.watch();
    const first = await subject.put('a', '1');
    const last = await subject.put('a', '2');
    watch.requestProgress();
    const read = await readWhile(watch, (batch) => !isMark(batch) || batch.revision < last);
    assert.deepEqual(
      story(
        subject,
        read.filter((batch) => !isMark(batch)),
      ),
      ['put a=1', 'put a=2'],
    );
    assert.ok(read.at(-1)!.revision >= last && last > first);
  });

  scenario('a mark asked for while next waits is delivered to it', async (subject) => {
    const watch = subject.watch();
    const current = await subject.store.revision();
    const waiting = watch.next();
    watch.requestProgress();
    const mark = await waiting;
    assert.ok(mark && isMark(mark) && mark.revision >= current);
  });

  scenario('a watch from the past marks progress only after it caught up', async (subject) => {
    const first = await subject.put('a', '0');
    for (let at = 1; at < 50; at++) await subject.put('a', String(at));
    const watch = subject.watch({ fromRevision: first });
    const batches = await readAll(subject, watch);
    assert.equal(batches.length, 50);
  });

  scenario('after a mark nothing comes that is not newer, whatever concurrent writers do', async (subject) => {
    const watch = subject.watch();
    const writer = concurrently(1_000, 32, async (at) => {
      const revision = await subject.put(`k${at % 10}`, String(at));
      if (at % 10 === 0) watch.requestProgress();
      return revision;
    });
    let last = Infinity;
    let marked = 0;
    const seen: Revision[] = [];
    const reader = (async () => {
      for await (const batch of watch) {
        if (isMark(batch)) marked = Math.max(marked, batch.revision);
        else {
          assert.ok(batch.revision > marked, `revision ${batch.revision} came after the mark ${marked}`);
          seen.push(batch.revision);
        }
        if (marked >= last) return;
      }
    })();
    const made = (await writer).sort((a, b) => a - b);
    last = made.at(-1)!;
    watch.requestProgress();
    await reader;
    assert.deepEqual(seen, made);
  });

  scenario('a mark of one watch says nothing to another', async (subject) => {
    const asking = subject.watch();
    const silent = subject.watch();
    asking.requestProgress();
    const mark = await asking.next();
    assert.ok(mark && isMark(mark));
    const revision = await subject.put('a', '1');
    assert.deepEqual(story(subject, await readUntil(silent, revision)), ['put a=1']);
  });

  scenario('a watch can begin right behind a mark and continues the story', async (subject) => {
    const watch = subject.watch();
    await subject.put('a', '1');
    const current = await subject.store.revision();
    watch.requestProgress();
    const read = await readWhile(watch, (batch) => !isMark(batch) || batch.revision < current);
    watch.close();
    await subject.put('a', '2');
    const last = await subject.put('a', '3');
    const resumed = subject.watch({ fromRevision: (read.at(-1)!.revision + 1) as Revision });
    assert.deepEqual(story(subject, await readUntil(resumed, last)), ['put a=2', 'put a=3']);
  });
}
