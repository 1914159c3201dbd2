import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import type { HistoryHold, Revision } from '../contract.ts';
import { findGaps, heldHistoryBytesMax, HistoryWindow } from './history-window.ts';
import type { HistoryPolicy } from './history-window.ts';

function world(policy: HistoryPolicy) {
  const scheduler = new Scheduler(seededRandom(1));
  const compactions: { revision: number; atMs: number }[] = [];
  const window = new HistoryWindow({
    clock: scheduler,
    policy,
    compact: async (revision) => void compactions.push({ revision, atMs: scheduler.monotonicMs() }),
  });
  return { scheduler, window, compactions };
}

describe('the history window', () => {
  test('compacts what is older than its age, and never anything younger', async () => {
    const ageMs = 10_000;
    const { scheduler, window, compactions } = world({ ageMs, revisionsMax: 1_000_000 });
    const writtenAtMs = new Map<number, number>();
    for (let revision = 1; revision <= 200; revision++) {
      writtenAtMs.set(revision, scheduler.monotonicMs());
      window.advanced(revision as Revision);
      await scheduler.advance(300);
    }
    assert.ok(compactions.length > 10);
    for (const { revision, atMs } of compactions) {
      // A compacted revision was replaced no later than by the revision that stays readable.
      assert.ok(atMs - writtenAtMs.get(revision)! >= ageMs, `revision ${revision} was too young`);
    }
    const kept = 200 - compactions.at(-1)!.revision;
    assert.ok(kept * 300 < ageMs * 1.3, `${kept} revisions are kept`);
  });

  test('a hold keeps older history until it ends, is replaced, or is too old', async () => {
    const run = async (hold: (revision: number) => HistoryHold | undefined) => {
      const { scheduler, window, compactions } = world({ ageMs: 60_000, revisionsMax: 1_000_000 });
      for (let revision = 1; revision <= 3_000; revision++) {
        window.advanced(revision as Revision);
        const held = hold(revision);
        if (held) window.hold(held);
        await scheduler.advance(1_000);
      }
      window.stop();
      return compactions;
    };
    const of = (revision: number, ttlMs = 600_000) => ({ holder: 'demo', revision: revision as Revision, ttlMs });
    const highest = (compactions: { revision: number; atMs: number }[], untilMs: number) =>
      Math.max(0, ...compactions.filter(({ atMs }) => atMs < untilMs).map(({ revision }) => revision));
    const ended = await run((revision) => (revision === 100 ? of(100) : undefined));
    assert.ok(highest(ended, 699_000) <= 100 && highest(ended, 720_000) > 600);
    const moving = await run((revision) => (revision >= 100 && revision % 10 === 0 ? of(revision - 200) : undefined));
    for (const { revision, atMs } of moving.slice(60)) assert.ok(revision <= atMs / 1_000 - 190, `${revision} ${atMs}`);
    assert.ok(moving.at(-1)!.revision > 2_700);
    const tooOld = await run((revision) => (revision >= 100 ? of(100) : undefined));
    assert.ok(highest(tooOld, 1_800_000) <= 100 && highest(tooOld, 3_000_000) > 1_000);
  });

  test('a hold does not exceed the bytes that are held', async () => {
    const run = async (bytes: number) => {
      const { scheduler, window, compactions } = world({ ageMs: 60_000, revisionsMax: 1_000_000 });
      for (let revision = 1; revision <= 600; revision++) {
        window.hold({ holder: 'demo', revision: 1 as Revision, ttlMs: 600_000 });
        window.advanced(revision as Revision, { bytes });
        await scheduler.advance(1_000);
      }
      window.stop();
      return compactions.at(-1)?.revision ?? 0;
    };
    assert.equal(await run(heldHistoryBytesMax / 1_000), 0);
    // The bytes of 200 seconds.
    const compacted = await run(heldHistoryBytesMax / 200);
    assert.ok(compacted > 350 && compacted <= 400, `${compacted}`);
    // Young history is kept in any case.
    assert.ok((await run(heldHistoryBytesMax)) <= 540);
  });

  test('a hold does not exceed the number of revisions', () => {
    const { window, compactions } = world({ ageMs: 1_000_000, revisionsMax: 100 });
    window.hold({ holder: 'demo', revision: 1 as Revision, ttlMs: 1_000_000 });
    for (let revision = 1; revision <= 200; revision++) window.advanced(revision as Revision);
    assert.ok(compactions.at(-1)!.revision >= 89);
  });

  test('skipped revisions do not count, so that history before them is kept', async () => {
    const { window, compactions } = world({ ageMs: 1_000_000, revisionsMax: 100 });
    for (let revision = 1; revision <= 50; revision++) window.advanced(revision as Revision);
    window.advanced(1_000_000 as Revision, { skipped: 999_949 });
    for (let revision = 1_000_001; revision <= 1_000_040; revision++) window.advanced(revision as Revision);
    assert.deepEqual(compactions, []);
    for (let revision = 1_000_041; revision <= 1_000_060; revision++) window.advanced(revision as Revision);
    assert.deepEqual(
      compactions.map(({ revision }) => revision),
      [11],
    );
    for (let revision = 1_000_061; revision <= 1_000_300; revision++) window.advanced(revision as Revision);
    assert.deepEqual(
      compactions.slice(0, 5).map(({ revision }) => revision),
      [11, 22, 33, 44, 1_000_004],
    );
  });

  test('finds the gaps of an earlier process, large enough to matter, with few probes', () => {
    const written = [...Array.from({ length: 300 }, (_, at) => at + 2), 5_000, 5_001, 9_000_000];
    let probes = 0;
    const firstFrom = (revision: Revision): Revision | undefined => {
      probes++;
      return written.find((one) => one >= revision) as Revision | undefined;
    };
    const span = { compacted: 100 as Revision, newest: 9_000_000 as Revision };
    const gaps = findGaps(span, { ageMs: 1, revisionsMax: 100 }, firstFrom);
    assert.deepEqual(
      gaps.map(({ end }) => end),
      [5_000, 9_000_000],
    );
    assert.ok(gaps[0]!.length > 4_690 && gaps[0]!.length <= 4_698, String(gaps[0]!.length));
    assert.ok(probes < 50, String(probes));
    assert.deepEqual(findGaps({ ...span, compacted: span.newest }, { ageMs: 1, revisionsMax: 100 }, firstFrom), []);
  });

  test('compacts in growing order', async () => {
    const { scheduler, window, compactions } = world({ ageMs: 1_000, revisionsMax: 50 });
    for (let revision = 1; revision <= 500; revision++) {
      window.advanced(revision as Revision);
      await scheduler.advance(revision % 3 === 0 ? 40 : 0);
    }
    const revisions = compactions.map((compaction) => compaction.revision);
    assert.deepEqual(
      revisions,
      [...new Set(revisions)].sort((a, b) => a - b),
    );
  });

  test('keeps no more revisions than it may, however young', () => {
    const { window, compactions } = world({ ageMs: 1_000_000, revisionsMax: 100 });
    for (let revision = 1; revision <= 1_000; revision++) {
      window.advanced(revision as Revision);
      const kept = revision - (compactions.at(-1)?.revision ?? 0);
      assert.ok(kept <= 111, `${kept} revisions are kept`);
    }
    assert.ok(compactions.length < 100, 'not with every write');
    assert.ok(compactions.every(({ revision }) => revision <= 900));
  });

  test('sleeps when nothing is written: the last look compacts, then there is no timer', async () => {
    const { scheduler, window, compactions } = world({ ageMs: 1_000, revisionsMax: 100 });
    window.advanced(7 as Revision);
    await scheduler.advance(5_000);
    assert.deepEqual(
      compactions.map((compaction) => compaction.revision),
      [7],
    );
    await assert.rejects(scheduler.run(new Promise(() => {})), /deadlock/, 'a timer is still set');
  });

  test('wakes up again with the next write', async () => {
    const { scheduler, window, compactions } = world({ ageMs: 1_000, revisionsMax: 100 });
    window.advanced(7 as Revision);
    await scheduler.advance(5_000);
    window.advanced(9 as Revision);
    await scheduler.advance(5_000);
    assert.deepEqual(
      compactions.map((compaction) => compaction.revision),
      [7, 9],
    );
  });

  test('does nothing after stop', async () => {
    const { scheduler, window, compactions } = world({ ageMs: 1_000, revisionsMax: 100 });
    window.advanced(7 as Revision);
    window.stop();
    await scheduler.advance(10_000);
    assert.deepEqual(compactions, []);
  });
});
