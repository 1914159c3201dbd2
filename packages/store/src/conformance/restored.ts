/** Puts that restore the revisions of an entry of another store, and puts that skip revisions. */

import assert from 'node:assert/strict';
import type { RestoredRevisions, Revision, StoreEvent, Write } from '../contract.ts';
import { restoredRevisionMax } from '../limits.ts';
import type { Scenario } from './harness.ts';
import type { PlainEntry, Subject } from './subject.ts';
import { refusal, textOf } from './subject.ts';
import { readUntil, readWhile } from './watching.ts';

const revision = (number: number): Revision => number as Revision;

const at = (createRevision: number, modRevision: number, version: number): RestoredRevisions => ({
  createRevision: revision(createRevision),
  modRevision: revision(modRevision),
  version,
});

/** Registers a scenario for drivers that restore revisions. The others refuse. */
function restoring(scenario: Scenario, name: string, run: (subject: Subject) => Promise<void>): void {
  scenario(name, async (subject) => {
    if (!subject.refusesRestored) return run(subject);
    const put = subject.write('a', '1') as Write & { type: 'put' };
    for (const one of [{ restored: at(1, 1, 1) }, { revisionMin: revision(1) }])
      assert.equal(await refusal(() => subject.store.commit([{ ...put, ...one }])), 'Unsupported');
    return assert.deepEqual(await subject.list(), []);
  });
}

function restoredPut(subject: Subject, name: string, text: string, restored: RestoredRevisions): Write {
  return { ...(subject.write(name, text) as Write & { type: 'put' }), restored };
}

/** Skips to a revision at least this much above the current one. */
async function skip(subject: Subject, by: number, name = 'skip'): Promise<Revision> {
  const revisionMin = revision((await subject.store.revision()) + by);
  const put = subject.write(name, '') as Write & { type: 'put' };
  const result = await subject.commit({ ...put, revisionMin });
  assert.ok(result.revision >= revisionMin);
  return result.revision;
}

const stated = (entry: PlainEntry | undefined): string | undefined =>
  entry && `${entry.name}=${entry.text} ${entry.createRevision} ${entry.modRevision} ${entry.version}`;

export function restored(scenario: Scenario): void {
  restoring(
    scenario,
    'a restored entry has the given revisions and version from its transaction on',
    async (subject) => {
      await skip(subject, 100);
      const before = await subject.store.revision();
      const result = await subject.commit(restoredPut(subject, 'a', '1', at(7, 40, 3)), subject.write('b', '1'));
      assert.ok(result.revision > before);
      const later = await subject.put('c', '1');
      for (const when of [undefined, result.revision, later]) {
        assert.equal(stated(await subject.entry('a', when)), 'a=1 7 40 3');
        const { entries } = await subject.store.range(
          subject.below('a'),
          when === undefined ? {} : { atRevision: when },
        );
        assert.equal(stated(subject.plain(entries[0]!)), 'a=1 7 40 3');
      }
      assert.equal(await subject.entry('a', before), undefined, 'it is visible before its transaction');
      assert.equal((await subject.entry('b'))?.modRevision, result.revision);
    },
  );

  restoring(scenario, 'a transaction is not before the revisions that it restores', async (subject) => {
    const above = (await subject.store.revision()) + 5_000;
    const { revision: first } = await subject.commit(restoredPut(subject, 'a', '1', at(3, above, 2)));
    assert.equal(first, above);
    assert.equal(await subject.store.revision(), above);
    assert.equal(stated(await subject.entry('a')), `a=1 3 ${above} 2`);
    assert.ok((await subject.put('b', '1')) > above);
  });

  restoring(scenario, 'conditions compare the restored revision', async (subject) => {
    await skip(subject, 100);
    await subject.commit(restoredPut(subject, 'a', '1', at(7, 40, 3)));
    const { revision: current } = await subject.store.get(subject.key('a'));
    for (const expected of [current, revision(39), revision(0)]) {
      const result = await subject.store.commit([subject.write('a', '2', { expected })]);
      assert.ok(!result.committed);
      assert.equal(stated(subject.plain(result.conflicts[0]!.entry!)), 'a=1 7 40 3');
    }
    const changed = await subject.put('a', '2', { expected: revision(40) });
    assert.equal(stated(await subject.entry('a')), `a=2 7 ${changed} 4`);
    assert.ok(changed > 100);
    await subject.remove('a');
    const again = await subject.put('a', '3', { expected: revision(0) });
    assert.equal(stated(await subject.entry('a')), `a=3 ${again} ${again} 1`);
  });

  restoring(scenario, 'a restored put replaces an entry, with a condition', async (subject) => {
    await skip(subject, 100);
    const first = await subject.put('a', '1');
    const restored = restoredPut(subject, 'a', '2', at(5, 6, 2)) as Write & { type: 'put' };
    assert.ok(!(await subject.store.commit([{ ...restored, expected: revision(first - 1) }])).committed);
    await subject.commit({ ...restored, expected: first });
    assert.equal(stated(await subject.entry('a')), 'a=2 5 6 2');
    assert.equal(await subject.text('a', first), '1');
    await subject.commit(restoredPut(subject, 'a', '3', at(5, 4_000_000, 9)));
    assert.equal(stated(await subject.entry('a')), 'a=3 5 4000000 9');
  });

  restoring(scenario, 'watches deliver restored entries at the revision of the transaction', async (subject) => {
    const start = await skip(subject, 100);
    const live = subject.watch({ previous: true });
    const { revision: first } = await subject.commit(restoredPut(subject, 'a', '1', at(7, 40, 3)));
    const { revision: second } = await subject.commit(restoredPut(subject, 'a', '2', at(7, 41, 4)));
    const last = await subject.remove('a');
    const past = subject.watch({ fromRevision: revision(start + 1), previous: true });
    for (const watch of [live, past]) {
      const batches = await readUntil(watch, last);
      assert.deepEqual(
        batches.map((batch) => batch.revision),
        [first, second, last],
      );
      const [put, changed, removed] = batches.map((batch) => batch.events[0]!) as [StoreEvent, StoreEvent, StoreEvent];
      assert.equal(put.type === 'put' && stated(subject.plain(put.entry)), 'a=1 7 40 3');
      assert.equal(changed.type === 'put' && stated(subject.plain(changed.entry)), 'a=2 7 41 4');
      assert.equal(stated(subject.plain(changed.previous!)), 'a=1 7 40 3');
      assert.equal(stated(subject.plain(removed.previous!)), 'a=2 7 41 4');
    }
  });

  restoring(scenario, 'restored revisions survive a restart and a compaction', async (subject) => {
    await skip(subject, 100);
    await subject.commit(restoredPut(subject, 'a', '1', at(7, 40, 3)), restoredPut(subject, 'b', '1', at(8, 8, 1)));
    await subject.commit(restoredPut(subject, 'b', '2', at(8, 9, 2)));
    const check = async (): Promise<void> => {
      assert.equal(stated(await subject.entry('a')), 'a=1 7 40 3');
      assert.equal(stated(await subject.entry('b')), 'b=2 8 9 2');
    };
    await subject.reopen();
    await check();
    await subject.store.compact(await subject.store.revision());
    await check();
    await subject.reopen();
    await check();
    assert.equal((await subject.store.statistics(subject.below('b'))).keys, 1);
    const changed = await subject.put('b', '3', { expected: revision(9) });
    assert.equal(stated(await subject.entry('b')), `b=3 8 ${changed} 3`);
  });

  restoring(scenario, 'a restored entry ends with its lease', async (subject) => {
    await skip(subject, 100);
    const { id } = await subject.store.grantLease(600_000);
    await subject.commit({ ...restoredPut(subject, 'a', '1', at(7, 40, 3)), lease: id } as Write);
    await subject.reopen();
    assert.equal((await subject.entry('a'))?.lease, id);
    await subject.store.revokeLease(id);
    assert.equal(await subject.entry('a'), undefined);
  });

  restoring(scenario, 'skipped revisions stay skipped after a restart', async (subject) => {
    const before = await subject.put('a', '1');
    const skipped = await skip(subject, 1_000_000_000);
    assert.equal(await subject.store.revision(), skipped);
    assert.equal(await subject.text('a', revision(before + 500_000_000)), '1', 'a skipped revision cannot be read');
    await subject.remove('skip');
    await subject.reopen();
    assert.ok((await subject.store.revision()) > skipped);
    assert.ok((await subject.put('b', '1')) > skipped);
  });

  restoring(scenario, 'history continues over skipped revisions, large or small', async (subject) => {
    const expected: string[] = [];
    const start = await subject.put('start', '');
    for (const by of [0, 3, 60, 150, 250, 2_000, 1_000_000_000]) {
      if (by > 0) {
        await skip(subject, by);
        expected.push('skip=');
      }
      for (let count = 0; count < 230; count++) {
        await subject.put(`k${count % 7}`, `${by}-${count}`);
        expected.push(`k${count % 7}=${by}-${count}`);
      }
      const names = Array.from({ length: 120 }, (_, place) => `many${place}`);
      await subject.populate(names, () => String(by));
      expected.push(...names.map((name) => `${name}=${by}`));
    }
    const last = await subject.put('end', '');
    for (let round = 0; round < 2; round++) {
      const batches = await readUntil(subject.watch({ fromRevision: revision(start + 1) }), last);
      const puts = batches.flatMap(({ events }) =>
        events.flatMap((event) => (event.type === 'put' ? [event.entry] : [])),
      );
      assert.deepEqual(
        puts.map((entry) => `${subject.name(entry.key)}=${textOf(entry.value)}`),
        [...expected, 'end='],
      );
      await subject.reopen();
    }
  });

  restoring(scenario, 'a compaction over skipped revisions ends', async (subject) => {
    for (let round = 0; round < 3; round++) {
      for (let count = 0; count < 20; count++) await subject.put('a', String(count));
      await skip(subject, 10_000_000_000);
    }
    const last = await subject.put('a', 'last');
    await subject.store.compact(last);
    assert.deepEqual(await subject.list(), ['a=last', 'skip=']);
    assert.equal(await refusal(() => subject.text('a', revision(last - 1))), 'Compacted');
    await subject.reopen();
    assert.deepEqual(await subject.list(), ['a=last', 'skip=']);
  });

  restoring(scenario, 'a live watch and its marks continue over skipped revisions', async (subject) => {
    const watch = subject.watch();
    await subject.put('a', '1');
    const skipped = await skip(subject, 1_000_000);
    watch.requestProgress();
    const read = await readWhile(watch, (batch) => batch.events.length > 0 || batch.revision < skipped);
    assert.ok(read.at(-1)!.revision >= skipped);
    assert.equal(read.filter((batch) => batch.events.length > 0).length, 2);
  });

  restoring(scenario, 'malformed restored revisions are refused', async (subject) => {
    const put = subject.write('a', '1') as Write & { type: 'put' };
    const invalid = [at(0, 5, 1), at(6, 5, 1), at(1, 5, 0), at(1, 5, 1.5), at(1.5, 5, 1), at(1, NaN, 1), at(-1, 5, 1)];
    const values = [...invalid, at(1, restoredRevisionMax + 1, 1), null, 'x', 5, {}];
    for (const restored of values) {
      const write = { ...put, restored: restored as RestoredRevisions };
      assert.equal(await refusal(() => subject.store.commit([write])), 'InvalidRequest', JSON.stringify(restored));
    }
    for (const revisionMin of [-1, 1.5, restoredRevisionMax + 1, '5'] as Revision[])
      assert.equal(await refusal(() => subject.store.commit([{ ...put, revisionMin }])), 'InvalidRequest');
    assert.deepEqual(await subject.list(), []);
  });
}
