/** docs/security.md names a test for every attack: each must be there, under that name. */

import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/security.md'), 'utf8');
const table = page.slice(page.indexOf('| attack |'), page.indexOf('## Found by attacking'));

/** `path`: "name", "name"; `path`: "name" */
const cited = [...table.matchAll(/`([^`]+\.(?:test|real)\.ts)`: ((?:"[^"]+"(?:, )?)+)/g)].map(([, path, names]) => ({
  path: path!,
  names: [...names!.matchAll(/"([^"]+)"/g)].map(([, name]) => name!),
}));

test('every attack has what happens and a test', () => {
  const rows = table
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| *') && !line.startsWith('| attack'));
  assert.ok(rows.length > 60);
  for (const row of rows) assert.match(row, /^\| .+ \| .+ \| `[^`]+\.(?:test|real)\.ts`: ".+" \|$/, row);
});

test('every test that is named is there', () => {
  assert.ok(cited.length > 60);
  for (const { path, names } of cited) {
    assert.ok(existsSync(join(root, path)), path);
    const text = readFileSync(join(root, path), 'utf8');
    // Names with variables are cited by their fixed part.
    for (const name of names) assert.ok(text.includes(name), `${path} has no "${name}"`);
  }
});

test('every file of the suite is named', () => {
  const files = globSync('tests/attacks/*.{test,real}.ts', { cwd: root }).filter(
    (file) => !file.endsWith('document.test.ts'),
  );
  assert.ok(files.length >= 10);
  for (const file of files)
    assert.ok(
      cited.some(({ path }) => path === file),
      file,
    );
});
