/** A data directory that is not whole is refused with the file's name and what to do; never wrong data, never an empty store. */

import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { dataFiles } from './inspect.ts';
import { flip, populate, put, readAll, refusalOf, TestFolder, withStore } from './testing.ts';

const folder = new TestFolder();
after(() => folder.remove());

const pageBytes = 4_096;
/** A closed store, and its content. */
let closed: string;
let contents: string;
before(async () => {
  closed = folder.path();
  await withStore({ directory: closed }, populate);
  contents = textOf(closed);
});

function textOf(directory: string): string {
  const found = readAll(directory);
  if ('error' in found) throw found.error;
  return found.text;
}

/** Refused by the store itself, with this file in the message and advice. */
async function assertRefused(
  directory: string,
  file: 'database' | 'journal' | 'rollbackJournal',
  why: RegExp,
): Promise<void> {
  const { code, message } = await refusalOf(directory);
  assert.equal(code, 'StorageDamaged', message);
  assert.ok(message.startsWith(dataFiles(directory)[file]), message);
  assert.match(message, why);
  assert.match(message, /restore the data directory from a backup|use the version of Hangar/);
}

describe('the database file', () => {
  test('truncated to any length, it is refused', async () => {
    const size = statSync(dataFiles(closed).database).size;
    assert.ok(size > 10 * pageBytes);
    for (const length of [0, 1, 50, 99, 100, 511, pageBytes, 3 * pageBytes + 7, size - pageBytes, size - 1]) {
      const directory = folder.copyOf(closed);
      truncateSync(dataFiles(directory).database, length);
      await assertRefused(directory, 'database', /empty|truncated/);
    }
  });

  test('a byte flipped anywhere is refused, or changes nothing that can be read', async () => {
    const directory = folder.copyOf(closed);
    const { database } = dataFiles(directory);
    const whole = readFileSync(database);
    const pages = whole.length / pageBytes;
    const refused = new Set<number>();
    let trials = 0;
    const trial = (offset: number) => {
      trials++;
      const bytes = Buffer.from(whole);
      bytes[offset]! ^= [0x01, 0xff, 0x80, 0x02, 0x0c][offset % 5]!;
      writeFileSync(database, bytes);
      const found = readAll(directory);
      if ('text' in found) return assert.equal(found.text, contents, `offset ${offset}`);
      assert.equal(found.error.code, 'StorageDamaged', `offset ${offset}: ${found.error.stack}`);
      assert.ok(found.error.message.startsWith(database), found.error.message);
      refused.add(Math.floor(offset / pageBytes));
    };
    // All of the headers, where one byte matters most; elsewhere a sample of every page.
    for (let page = 0; page < pages; page++) {
      for (let offset = 0; offset < pageBytes; offset += offset < 16 || (page === 0 && offset < 120) ? 1 : 61) {
        trial(page * pageBytes + offset);
      }
    }
    assert.ok(trials > pages * 60);
    assert.ok(refused.size > pages * 0.7, `only ${refused.size} of ${pages} pages matter`);
  });

  test('the store itself refuses a flipped byte in each page, or shows all that it held', async () => {
    const size = statSync(dataFiles(closed).database).size;
    let refusals = 0;
    for (let offset = 2_500; offset < size; offset += pageBytes) {
      const directory = folder.copyOf(closed);
      flip(dataFiles(directory).database, offset);
      const { code, message } = await refusalOf(directory);
      if (code === 'opened') assert.equal(textOf(directory), contents);
      else {
        assert.equal(code, 'StorageDamaged', message);
        refusals++;
      }
    }
    assert.ok(refusals > 0);
  });

  test('a page that has lost its last write is refused', async () => {
    // An older version of a page is whole in itself: only the other tables tell.
    const directory = folder.copyOf(closed);
    const before = readFileSync(dataFiles(directory).database);
    await withStore({ directory }, async (store) => {
      await store.commit([put('/k7', 'changed'), put('/new', 'value')]);
      await store.commit([{ type: 'delete', key: '/k8' }]);
    });
    const { database } = dataFiles(directory);
    const after = readFileSync(database);
    const expected = textOf(directory);
    let changedPages = 0;
    for (let at = 0; at < before.length; at += pageBytes) {
      if (before.compare(after, at, at + pageBytes, at, at + pageBytes) === 0) continue;
      changedPages++;
      writeFileSync(
        database,
        Buffer.concat([after.subarray(0, at), before.subarray(at, at + pageBytes), after.subarray(at + pageBytes)]),
      );
      const found = readAll(directory);
      if ('error' in found) assert.equal(found.error.code, 'StorageDamaged');
      else assert.equal(found.text, expected, `page ${at / pageBytes + 1}`);
    }
    assert.ok(changedPages >= 3);
  });

  test('missing beside the others, it is refused and not replaced by an empty one', async () => {
    const directory = folder.copyOf(closed);
    rmSync(dataFiles(directory).database);
    await assertRefused(directory, 'database', /missing/);
    await assertRefused(directory, 'database', /missing/); // again: refusing has not changed anything
  });

  test('text, another database and a newer format are told apart', async () => {
    const text = folder.path();
    mkdirSync(text);
    writeFileSync(dataFiles(text).database, 'These are my notes, and they are longer than a header. '.repeat(10));
    await assertRefused(text, 'database', /does not have the header of a SQLite database/);
    const foreign = folder.path();
    mkdirSync(foreign);
    const other = new DatabaseSync(dataFiles(foreign).database);
    other.exec('CREATE TABLE notes (text)');
    other.close();
    await assertRefused(foreign, 'database', /not a Hangar store/);
    const newer = folder.copyOf(closed);
    const database = new DatabaseSync(dataFiles(newer).database);
    database.exec('PRAGMA user_version = 3');
    database.close();
    await assertRefused(newer, 'database', /has format 3/);
    const changed = folder.copyOf(closed);
    const altered = new DatabaseSync(dataFiles(changed).database);
    altered.exec('ALTER TABLE lease ADD COLUMN more');
    altered.close();
    await assertRefused(changed, 'database', /definition of lease/);
  });

  test('a rollback journal beside it is refused: it would be played back', async () => {
    const directory = folder.copyOf(closed);
    writeFileSync(dataFiles(directory).rollbackJournal, Buffer.alloc(512, 1));
    await assertRefused(directory, 'rollbackJournal', /not a file of this store/);
  });
});

describe('the files together', () => {
  test('a database with the mark of another store is refused', async () => {
    const other = folder.path();
    await withStore({ directory: other }, populate);
    const directory = folder.copyOf(closed);
    copyFileSync(dataFiles(other).mark, dataFiles(directory).mark);
    await assertRefused(directory, 'database', /two data directories were mixed/);
  });

  test('a database with the journal of another store is refused, however alike they are', async () => {
    for (const keepMark of [true, false]) {
      const [mine, theirs] = await Promise.all(
        ['mine', 'theirs'].map(async (text) => {
          const directory = folder.path();
          return withStore({ directory }, async (store) => {
            for (let at = 0; at < 5; at++) await store.commit([put(`/k${at}`, text)]);
            return folder.crashedCopyOf(directory);
          });
        }),
      );
      copyFileSync(dataFiles(theirs!).journal, dataFiles(mine!).journal);
      if (!keepMark) rmSync(dataFiles(mine!).mark);
      const { code, message } = await refusalOf(mine!);
      assert.equal(code, 'StorageDamaged', message);
    }
  });

  test('an old database with the mark that came later is refused', async () => {
    const old = folder.copyOf(closed);
    const directory = folder.copyOf(closed);
    await withStore({ directory }, (store) => store.commit([put('/later', 'x')]));
    copyFileSync(dataFiles(old).database, dataFiles(directory).database);
    await assertRefused(directory, 'journal', /were acknowledged and are missing/);
  });

  test('a damaged lock file is named, and that it holds no data', async () => {
    const directory = folder.copyOf(closed);
    writeFileSync(`${directory}/owner.lock`, 'text '.repeat(1_000));
    const { code, message } = await refusalOf(directory);
    assert.equal(code, 'StorageDamaged');
    assert.match(message, /owner\.lock is not a lock file: remove it/);
    rmSync(`${directory}/owner.lock`);
    assert.equal((await refusalOf(directory)).code, 'opened');
  });
});
