/** Runs the checker's own programs, which is why it is not a unit test. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

test('`npm run check` is clean', () => {
  const root = new URL('..', import.meta.url);
  const { status, stdout, stderr } = spawnSync('npm', ['run', 'check'], { cwd: root, encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
});
