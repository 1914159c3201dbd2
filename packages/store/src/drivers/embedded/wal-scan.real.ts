import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { openEmbeddedStore } from './embedded-store.ts';
import { dataFiles } from './inspect.ts';
import { put, readAll, refusalOf, TestFolder } from './testing.ts';
import { scanWal } from './wal-scan.ts';

const folder = new TestFolder();
after(() => folder.remove());

const headerBytes = 32;
const frameBytes = 24 + 4_096;
const frameAt = (number: number) => headerBytes + (number - 1) * frameBytes;

/** Frames that end a transaction, counted from 1. */
function commitFrames(wal: Buffer): number[] {
  const frames: number[] = [];
  for (let frame = 1; frameAt(frame) + frameBytes <= wal.length; frame++) {
    if (wal.readUInt32BE(frameAt(frame) + 4) > 0) frames.push(frame);
  }
  return frames;
}

describe('after a crash', () => {
  /** The directory of a process that was killed after eight commits, and the readable content after each of them. */
  let crashed: string;
  let wal: Buffer;
  const states: string[] = [];

  before(async () => {
    const directory = folder.path();
    const store = await openEmbeddedStore({ directory });
    for (let at = 0; at < 8; at++) {
      await store.commit([put(`/k${at}`, `value ${at}`), put('/large', `${at} `.repeat(3_000))]);
      crashed = folder.crashedCopyOf(directory);
      states.push(read(crashed));
    }
    await store.close();
    assert.equal(existsSync(dataFiles(directory).journal), false);
    wal = readFileSync(dataFiles(crashed).journal);
  });

  function read(directory: string): string {
    const found = readAll(directory);
    if ('error' in found) throw found.error;
    return found.text;
  }

  /** The crashed directory with another journal; without the mark, as a power loss can leave it. */
  function withJournal(journal: Buffer | undefined, options: { mark: boolean }): string {
    const directory = folder.copyOf(crashed);
    if (journal) writeFileSync(dataFiles(directory).journal, journal);
    else rmSync(dataFiles(directory).journal);
    if (!options.mark) rmSync(dataFiles(directory).mark);
    return directory;
  }

  test('everything is there', () => {
    assert.equal(read(crashed), states.at(-1));
    const { damagedFrame, pages, databasePages } = scanWal(dataFiles(crashed).journal);
    assert.equal(damagedFrame, undefined);
    assert.ok(pages.size > 5 && databasePages >= Math.max(...pages));
  });

  test('looking at it changes nothing', () => {
    const directory = folder.copyOf(crashed);
    read(directory);
    assert.ok(readFileSync(dataFiles(directory).journal).equals(wal));
  });

  test('a journal that was removed or truncated to any length is refused', async () => {
    for (const length of [
      0,
      1,
      headerBytes,
      ...commitFrames(wal)
        .slice(0, -1)
        .map((frame) => frameAt(frame + 1)),
    ]) {
      const found = readAll(withJournal(wal.subarray(0, length), { mark: true }));
      assert.ok('error' in found && found.error.code === 'StorageDamaged', `length ${length}`);
      assert.match(found.error.message, /store\.db-wal is damaged .*acknowledged and are missing/);
    }
    for (const journal of [undefined, wal.subarray(0, wal.length - 1)]) {
      const { code, message } = await refusalOf(withJournal(journal, { mark: true }));
      assert.equal(code, 'StorageDamaged', message);
    }
  });

  test('a byte flipped in any frame is refused', () => {
    const frames = (wal.length - headerBytes) / frameBytes;
    for (let frame = 1; frame <= frames; frame++) {
      for (const offset of [0, 5, 9, 17, 24, 2_000, frameBytes - 1]) {
        const damagedWal = Buffer.from(wal);
        damagedWal[frameAt(frame) + offset]! ^= 0x10;
        const found = readAll(withJournal(damagedWal, { mark: true }));
        assert.ok('error' in found && found.error.code === 'StorageDamaged', `frame ${frame}, byte ${offset}`);
      }
    }
  });

  test('without the mark, damage before the last transaction is refused, in it the transaction never was', () => {
    const commits = commitFrames(wal);
    const lastBegins = commits.at(-2)! + 1;
    for (let frame = 1; frame <= commits.at(-1)!; frame++) {
      for (const offset of [0, 9, 24, 3_000]) {
        const damagedWal = Buffer.from(wal);
        damagedWal[frameAt(frame) + offset]! ^= 0x10;
        const directory = withJournal(damagedWal, { mark: false });
        const found = readAll(directory);
        if (frame >= lastBegins)
          assert.equal('text' in found && found.text, states.at(-2), `frame ${frame}, byte ${offset}`);
        else {
          assert.ok('error' in found, `frame ${frame}, byte ${offset}`);
          assert.equal(found.error.code, 'StorageDamaged');
          assert.match(
            found.error.message,
            new RegExp(`store\\.db-wal is damaged \\(the checksum of frame ${frame} is wrong`),
          );
        }
      }
    }
  });

  test('without the mark, a damaged header is refused', () => {
    for (let offset = 0; offset < headerBytes; offset++) {
      const damagedWal = Buffer.from(wal);
      damagedWal[offset]! ^= 0x21;
      const found = readAll(withJournal(damagedWal, { mark: false }));
      assert.ok('error' in found && found.error.code === 'StorageDamaged', `byte ${offset}`);
      assert.match(found.error.message, /the checksum of frame 0 is wrong/);
    }
  });

  test('the last transaction may be torn in any way: it never was, and the store opens', () => {
    const commits = commitFrames(wal);
    const lastBegins = commits.at(-2)! + 1;
    for (const keep of ['first half', 'second half', 'odd frames', 'commit frame', 'half of each']) {
      const torn = Buffer.from(wal);
      for (let frame = lastBegins; frame <= commits.at(-1)!; frame++) {
        const place = frame - lastBegins;
        const length = commits.at(-1)! - lastBegins + 1;
        const kept = {
          'first half': place < length / 2,
          'second half': place >= length / 2,
          'odd frames': place % 2 === 1,
          'commit frame': place === length - 1,
          'half of each': false,
        }[keep];
        if (!kept) torn.fill(0, frameAt(frame) + (keep === 'half of each' ? 2_048 : 0), frameAt(frame + 1));
      }
      assert.equal(read(withJournal(torn, { mark: false })), states.at(-2), keep);
    }
  });

  test('a truncated database is refused although there is a journal', () => {
    const { database, journal } = dataFiles(folder.copyOf(crashed));
    const { pages } = scanWal(journal);
    const size = statSync(database).size;
    // Up to here the journal completes the file; one page less, and data is lost.
    let needed = size / 4_096;
    while (pages.has(needed)) needed--;
    for (const length of [0, 4_096, (needed - 1) * 4_096, needed * 4_096 - 1]) {
      const directory = folder.copyOf(crashed);
      truncateSync(dataFiles(directory).database, length);
      const found = readAll(directory);
      assert.ok('error' in found && found.error.code === 'StorageDamaged', `length ${length}`);
      assert.match(found.error.message, /store\.db is damaged \(it is (truncated|empty)/);
    }
  });

  test('an older database, or an older journal, of the same store is refused', async () => {
    const older = folder.path();
    const store = await openEmbeddedStore({ directory: older });
    try {
      for (let at = 0; at < 3; at++) await store.commit([put(`/k${at}`, 'x'.repeat(5_000))]);
      const first = folder.crashedCopyOf(older);
      for (let at = 0; at < 3; at++) await store.commit([put(`/n${at}`, 'y'.repeat(5_000))]);
      const second = folder.crashedCopyOf(older);
      copyFileSync(dataFiles(first).journal, dataFiles(second).journal);
      const found = readAll(second);
      assert.ok('error' in found && found.error.code === 'StorageDamaged');
    } finally {
      await store.close();
    }
  });
});

describe('what is left of transactions that failed', () => {
  /** A separate database: the driver's settings make these states rare. */
  function database(path: string): DatabaseSync {
    const database = new DatabaseSync(path);
    database.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (x)');
    return database;
  }

  const insert = (database: DatabaseSync, rows: number, text: string) => {
    database.exec('BEGIN');
    for (let row = 0; row < rows; row++) database.prepare('INSERT INTO t VALUES (?)').run(text.repeat(3_000));
  };

  test('frames that were written before a rollback are no damage', () => {
    const path = `${folder.path()}.db`;
    const open = database(path);
    open.exec('PRAGMA cache_size = 5');
    insert(open, 5, 'a');
    open.exec('COMMIT');
    const before = statSync(`${path}-wal`).size;
    insert(open, 200, 'b');
    open.exec('ROLLBACK');
    assert.ok(statSync(`${path}-wal`).size > before + 50 * frameBytes, 'nothing was written before the rollback');
    insert(open, 1, 'c');
    open.exec('COMMIT');
    assert.equal(scanWal(`${path}-wal`).damagedFrame, undefined);
    open.close();
  });

  test('a whole transaction whose sync failed, half overwritten by the next, is no damage', () => {
    const path = `${folder.path()}.db`;
    const open = database(path);
    insert(open, 5, 'a');
    open.exec('COMMIT');
    const names = [path, `${path}-wal`];
    for (const name of names) copyFileSync(name, name.replace('.db', '-other.db'));
    insert(open, 20, 'b');
    open.exec('COMMIT');
    const failed = readFileSync(`${path}-wal`);
    open.close();
    // The same beginning, another and shorter transaction behind it, then the rest of the one that failed.
    const otherPath = path.replace('.db', '-other.db');
    const other = new DatabaseSync(otherPath);
    other.exec('PRAGMA wal_autocheckpoint = 0');
    insert(other, 3, 'c');
    other.exec('COMMIT');
    const overwritten = readFileSync(`${otherPath}-wal`);
    const length = overwritten.length;
    assert.ok(length < failed.length && overwritten.subarray(0, 32).equals(failed.subarray(0, 32)));
    const journal = `${folder.path()}-wal`;
    writeFileSync(journal, Buffer.concat([overwritten, failed.subarray(length)]));
    const scan = scanWal(journal);
    assert.equal(scan.damagedFrame, undefined);
    assert.deepEqual(scan.pages, scanWal(`${otherPath}-wal`).pages);
    other.close();
  });

  test('frames of an earlier use of the file are no damage', () => {
    const path = `${folder.path()}.db`;
    const open = database(path);
    for (let at = 0; at < 5; at++) {
      insert(open, 5, 'a');
      open.exec('COMMIT');
    }
    open.exec('PRAGMA wal_checkpoint(RESTART)');
    insert(open, 2, 'b');
    open.exec('COMMIT');
    const scan = scanWal(`${path}-wal`);
    assert.equal(scan.damagedFrame, undefined);
    assert.ok(scan.pages.size < 10);
    open.close();
  });
});
