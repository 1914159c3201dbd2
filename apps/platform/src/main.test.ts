import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { parts } from './parts.ts';

const hangar = fileURLToPath(new URL('../../../bin/hangar.js', import.meta.url));

test('`hangar` says what is built, on the Node that came with it', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [hangar], { encoding: 'utf8' });
  assert.deepEqual([status, stderr], [0, '']);
  for (const { name, what } of parts)
    assert.match(stdout, new RegExp(`^ +${name} +${what.replace(/[()]/g, '\\$&')}$`, 'm'));
});
