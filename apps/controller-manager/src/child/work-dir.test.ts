import assert from 'node:assert/strict';
import { chmodSync, chownSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from './testing/programs.ts';
import { openWorkDir } from './work-dir.ts';

test('a work directory is made, only for this user, and belongs to one at a time', (context) => {
  const path = join(temporaryFolder(context), 'not', 'there');
  const { children, lock } = openWorkDir(path);
  assert.equal(children, join(path, 'children'));
  assert.equal(statSync(children).mode & 0o777, 0o700);
  assert.throws(() => openWorkDir(path), { code: 'WorkDirInUse', message: new RegExp(`process ${process.pid}\\b`) });
  lock.close();
  chmodSync(children, 0o755);
  openWorkDir(path).lock.close();
  assert.equal(statSync(children).mode & 0o777, 0o700);
});

test('a folder that is a link to elsewhere is refused', (context) => {
  const folder = temporaryFolder(context);
  mkdirSync(join(folder, 'elsewhere'));
  mkdirSync(join(folder, 'work'));
  symlinkSync(join(folder, 'elsewhere'), join(folder, 'work', 'children'));
  assert.throws(() => openWorkDir(join(folder, 'work')), { code: 'WorkDirUnsafe' });
});

test('a path that cannot be a folder, or a lock that is none, is refused with its reason', (context) => {
  const folder = temporaryFolder(context);
  writeFileSync(join(folder, 'file'), '');
  assert.throws(() => openWorkDir(join(folder, 'file')), { code: 'StartFailed', message: /EEXIST/ });
  writeFileSync(join(folder, 'owner.lock'), 'no database at all, but longer than the header of one'.repeat(10));
  assert.throws(() => openWorkDir(folder), { code: 'StartFailed', message: /not a database/ });
});

test("another user's folder is refused", (context) => {
  const folder = temporaryFolder(context);
  // A folder of root would be accepted for every user.
  if (process.getuid!() === 0) chownSync(folder, 12_345, 12_345);
  assert.throws(() => openWorkDir(folder, 54_321), { code: 'WorkDirUnsafe' });
});
