/** docs/security.md names a case for every attack between tenants: each must be there, and each case must be named. */

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const folder = join(import.meta.dirname, 'cases');
const page = readFileSync(join(import.meta.dirname, '../../docs/security.md'), 'utf8');
const section = page.slice(
  page.indexOf('### Attacks between tenants'),
  page.indexOf('\n## ', page.indexOf('## Tenants') + 1),
);

/** `file.ts`: "name", "name"; `file.ts`: "name" */
const cited = [...section.matchAll(/`([-a-z]+\.ts)`: ((?:"[^"]+"(?:, )?)+)/g)].flatMap(([, file, names]) =>
  [...names!.matchAll(/"([^"]+)"/g)].map(([, name]) => ({ file: file!, name: name! })),
);
const cases = globSync('*.ts', { cwd: folder }).flatMap((file) =>
  [...readFileSync(join(folder, file), 'utf8').matchAll(/^\s*test\(\s*['`](.+?)['`],/gm)].map(([, name]) => ({
    file,
    // Names with variables are cited by their fixed part.
    name: name!.replace(/^.*\$\{\w+\}:? ?/, ''),
  })),
);

test('every case that is named is there', () => {
  for (const { file, name } of cited) {
    assert.ok(
      cases.some((one) => one.file === file && one.name === name),
      `${file} has no "${name}"`,
    );
  }
});

test('every case is named', () => {
  assert.ok(cases.length > 100);
  for (const { file, name } of cases) {
    assert.ok(
      cited.some((one) => one.file === file && one.name === name),
      `"${name}" of ${file} is not in docs/security.md`,
    );
  }
});
