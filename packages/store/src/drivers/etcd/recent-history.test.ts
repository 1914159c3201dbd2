import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Entry, Revision } from '../../contract.ts';
import type { HistoryPage } from '../../engine/hub.ts';
import { RecentHistory } from './recent-history.ts';
import { byRevision, WatchedRevision } from './watched-revision.ts';

function entry(key: string, revision: number, bytes = 0): Entry {
  const at = revision as Revision;
  return { key, value: new Uint8Array(bytes), createRevision: at, modRevision: at, version: 1, lease: undefined };
}

function put(revision: number, keys: string[], bytes = 0): WatchedRevision {
  const events = keys.map((key) => ({ deleted: false, entry: entry(key, revision, bytes), previous: undefined }));
  return new WatchedRevision(revision as Revision, events);
}

function read(history: RecentHistory, from: number, to: number, prefix = ''): HistoryPage {
  return history.read({ prefix, previous: false, fromRevision: from as Revision, to: to as Revision });
}

const revisionsOf = (page: HistoryPage): number[] => page.batches.map((batch) => batch.revision);

test('what was added is read by revision and prefix', () => {
  const history = new RecentHistory(1_000_000, 5 as Revision);
  for (const revision of [5, 7, 9, 12]) history.add(put(revision, revision === 9 ? ['/b/1', '/a/1'] : ['/a/1']));
  assert.deepEqual(revisionsOf(read(history, 5, 12)), [5, 7, 9, 12]);
  assert.deepEqual(revisionsOf(read(history, 6, 11)), [7, 9]);
  const page = read(history, 5, 20, '/b/');
  assert.deepEqual(
    page.batches.map(({ revision, events }) => [revision, events.length]),
    [[9, 1]],
  );
  assert.equal(page.next, 21);
});

test('beyond its bound it forgets the oldest and says so', () => {
  const history = new RecentHistory(10_000, 1 as Revision);
  for (let revision = 1; revision <= 30; revision++) history.add(put(revision, ['/a'], 700));
  assert.ok(history.from > 20 && history.from < 30, String(history.from));
  assert.deepEqual(revisionsOf(read(history, history.from, 30)).at(0), history.from);
});

test('one revision larger than the bound leaves nothing and is not kept', () => {
  const history = new RecentHistory(1_000, 1 as Revision);
  history.add(put(1, ['/a'], 5_000));
  assert.equal(history.from, 2);
});

test('a long history is read in pages without a gap', () => {
  const history = new RecentHistory(100_000_000, 1 as Revision);
  for (let revision = 1; revision <= 2_500; revision++) history.add(put(revision, ['/a']));
  const seen: number[] = [];
  let pages = 0;
  for (let from = 1; from <= 2_500; pages++) {
    const page = read(history, from, 2_500);
    seen.push(...revisionsOf(page));
    from = page.next;
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 2_500 }, (_, at) => at + 1),
  );
  assert.equal(pages, 3);
});

test('events are grouped by revision, in order', () => {
  const events = [3, 3, 4, 7, 7].map((revision) => ({
    deleted: false,
    entry: entry(`/${revision}`, revision),
    previous: undefined,
  }));
  assert.deepEqual(
    byRevision(events).map(({ revision, keys }) => [revision, keys.length]),
    [
      [3, 2],
      [4, 1],
      [7, 2],
    ],
  );
});

test('a change or a deletion without what it replaced is noticed, a creation has nothing to lack', () => {
  const created = entry('/a', 5);
  const changed = { ...created, createRevision: 2 as Revision, version: 2 };
  const lacks = (deleted: boolean, event: Entry, previous?: Entry) =>
    new WatchedRevision(5 as Revision, [{ deleted, entry: event, previous }]).lacksPrevious;
  assert.equal(lacks(false, created), false);
  assert.equal(lacks(false, changed), true);
  assert.equal(lacks(false, changed, created), false);
  assert.equal(lacks(true, { ...created, createRevision: 0 as Revision }), true);
  assert.equal(lacks(true, { ...created, createRevision: 0 as Revision }, created), false);
});
