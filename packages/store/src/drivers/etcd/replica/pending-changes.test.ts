import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Revision } from '../../../contract.ts';
import type { ReplicaFrame } from '../../../replication/frames.ts';
import { pendingChanges } from './pending-changes.ts';
import type { Batch } from './pending-changes.ts';

const at = (revision: number): Revision => revision as Revision;
const batch = (revision: number, after?: number): Batch => ({
  type: 'batch',
  revision: at(revision),
  puts: [],
  deletes: [],
  ...(after !== undefined && { after: at(after) }),
});
const progress = (revision: number): ReplicaFrame => ({ type: 'progress', revision: at(revision) });
const snapshot = (revision: number): ReplicaFrame => ({ type: 'snapshot', revision: at(revision) });

test('every revision after the position gets one change, and other frames are skipped or refused', () => {
  const cases: [position: number, revision: number, frames: ReplicaFrame[], changes: string][] = [
    [100, 100, [batch(101)], '101'],
    [100, 100, [batch(103)], '101-102 103'],
    [100, 100, [progress(103)], '101-103'],
    [100, 100, [batch(101), batch(102, 101), progress(105), batch(107, 105)], '101 102 103-105 106-106 107'],
    [100, 100, [batch(99), batch(100), batch(101, 100)], '101'],
    [100, 100, [batch(7), progress(100), snapshot(100)], ''],
    // A lease expired, or others wrote.
    [100, 101, [batch(103)], 'Diverged'],
    [100, 103, [progress(103)], 'Diverged'],
    [100, 104, [batch(100)], ''],
    [0, 100, [batch(103)], 'Diverged'],
    [100, 100, [batch(111)], '101-110 111'],
    [100, 100, [batch(112)], 'GapTooLarge'],
    [100, 100, [batch(101), batch(115)], 'GapTooLarge'],
    [100, 100, [batch(105, 101)], 'OutOfOrder'],
    [100, 100, [batch(101), batch(105, 102)], 'OutOfOrder'],
    [100, 100, [snapshot(101)], 'OutOfOrder'],
  ];
  for (const [position, revision, frames, expected] of cases) {
    const state = { position, revision, created: 90, version: 11 };
    const pending = () =>
      pendingChanges(state, frames, 10)
        .map((change) => (change.type === 'fill' ? `${change.first}-${change.last}` : String(change.frame.revision)))
        .join(' ');
    const name = `${position} ${revision} ${JSON.stringify(frames)}`;
    if (/^[A-Z]/.test(expected)) assert.throws(pending, { code: expected }, name);
    else assert.equal(pending(), expected, name);
  }
  const entry = { key: 'a', value: Buffer.alloc(0), createRevision: at(1), modRevision: at(1), version: 1 };
  const state = { position: 5, revision: 5, created: 5, version: 1 };
  assert.throws(() => pendingChanges(state, [{ type: 'entry', entry }], 10), { code: 'OutOfOrder' });
});

test('a write of others is found later by the version of the position key', () => {
  const state = { position: 100, revision: 100, created: 90, version: 10 };
  assert.throws(() => pendingChanges(state, [batch(101)], 10), { code: 'Diverged' });
});
