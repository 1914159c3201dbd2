import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { PodJournal, readPodRecord } from './pod-record.ts';
import type { PodRecord } from './pod-record.ts';

test('a journal is written when it changes, and again after a failure', (context) => {
  const parent = mkdtempSync(join(tmpdir(), 'hangar-journal-'));
  context.after(() => rmSync(parent, { recursive: true, force: true }));
  const folder = join(parent, 'uid');
  const record: PodRecord = {
    namespace: 'team',
    name: 'a',
    uid: 'uid',
    address: '127.64.0.1',
    startTime: '2026-01-01T00:00:00Z',
    containers: {},
  };
  const journal = new PodJournal(folder);
  const inode = (): number => statSync(join(folder, 'pod.json')).ino;
  journal.write(record);
  const first = inode();
  journal.write({ ...record });
  assert.equal(inode(), first);
  const changed = { ...record, containers: { main: { hash: 'x', restartCount: 1, imageId: '' } } };
  // As on a full disk, the write fails.
  mkdirSync(join(folder, 'pod.json.next'));
  assert.throws(() => journal.write(changed));
  assert.deepEqual(readPodRecord(folder), record);
  rmSync(join(folder, 'pod.json.next'), { recursive: true });
  journal.write(changed);
  assert.deepEqual(readPodRecord(folder), changed);
});
