import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { CrashRecord } from './contract.ts';
import { CrashJournal } from './crash-journal.ts';

const record: CrashRecord = {
  activity: { id: 1, tenant: 'x', user: 'ada', verb: 'patch', resource: '/apis/x', isAccountable: true },
  at: 1,
  isCertain: true,
  reason: 'why',
};

describe('the crash journal', () => {
  let directory: string;
  before(() => void (directory = mkdtempSync(join(tmpdir(), 'crash-journal-'))));
  after(() => rmSync(directory, { recursive: true }));

  test('returns the record that was written, until it is removed', () => {
    const file = join(directory, 'folder', 'activity.json');
    new CrashJournal(file).write(record);
    const journal = new CrashJournal(file);
    journal.clear();
    assert.deepEqual(journal.read(), record);
    journal.remove();
    assert.equal(journal.read(), undefined);
  });

  test('moves a valid record to another file, and keeps the record there otherwise', () => {
    const [from, to] = [join(directory, 'from.json'), join(directory, 'to.json')];
    const journal = new CrashJournal(from);
    journal.write(record);
    journal.moveTo(to);
    journal.moveTo(to);
    writeFileSync(from, '{');
    journal.moveTo(to);
    assert.deepEqual([journal.read(), new CrashJournal(to).read()], [undefined, record]);
  });

  test('reports the first failure to write or remove, and does not throw', () => {
    const file = join(directory, 'is-a-directory');
    mkdirSync(join(file, 'with-content'), { recursive: true });
    const errors: Error[] = [];
    const journal = new CrashJournal(file, (error) => errors.push(error));
    journal.write(record);
    journal.remove();
    journal.failed(new Error('of the thread'));
    assert.equal(errors.length, 1);
    assert.equal(journal.read(), undefined);
  });

  test('ignores a file that holds no valid record', () => {
    const file = join(directory, 'not-valid');
    const { activity } = record;
    for (const value of [
      null,
      5,
      {},
      { activity },
      { ...record, at: null },
      { ...record, activity: { tenant: 'x' } },
    ]) {
      writeFileSync(file, JSON.stringify(value));
      assert.equal(new CrashJournal(file).read(), undefined);
    }
  });
});
