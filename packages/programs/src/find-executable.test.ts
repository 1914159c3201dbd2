import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { findExecutable } from './find-executable.ts';

test('a program is found as a shell finds it: the first of PATH that can be executed', (context) => {
  const folder = temporaryFolder(context);
  for (const name of ['a', 'b', 'c']) mkdirSync(join(folder, name));
  const path = ['a', 'b', 'c'].map((name) => join(folder, name)).join(':');
  mkdirSync(join(folder, 'a', 'program'));
  writeFileSync(join(folder, 'b', 'program'), '', { mode: 0o644 });
  assert.equal(findExecutable('program', { path }), undefined);
  writeFileSync(join(folder, 'real'), '', { mode: 0o755 });
  symlinkSync(join(folder, 'real'), join(folder, 'c', 'program'));
  assert.equal(findExecutable('program', { path }), join(folder, 'c', 'program'));
  symlinkSync(join(folder, 'nowhere'), join(folder, 'c', 'dangling'));
  assert.equal(findExecutable('dangling', { path }), undefined);
});

test('a path is taken as it is, and made absolute; what is here is not in PATH', (context) => {
  const file = join(temporaryFolder(context), 'program');
  writeFileSync(file, '', { mode: 0o755 });
  assert.equal(findExecutable(file, { path: '' }), file);
  assert.equal(findExecutable(relative(process.cwd(), file)), file);
  assert.equal(findExecutable(`${file}-other`), undefined);
  assert.equal(findExecutable('', { path: '/bin' }), undefined);
  assert.equal(findExecutable('package.json', { path: ':' }), undefined);
});

function temporaryFolder(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'hangar-programs-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
