/** A real full disk and a real read-only one: writes are refused, reads continue, nothing is lost, and free space restores writes. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

test('an embedded store on a full or read-only disk refuses, loses nothing, and recovers', () => {
  const mountPoint = mkdtempSync(join(tmpdir(), 'hangar-small-disk-'));
  try {
    // The mount is visible only to this process and is removed with it. A user other than root becomes root in a new user namespace.
    const isolation = process.getuid?.() === 0 ? ['-m'] : ['-Urm'];
    const program = new URL('./full-disk-load.ts', import.meta.url).pathname;
    const { status, stdout, stderr, error } = spawnSync(
      'unshare',
      [...isolation, process.execPath, program, mountPoint],
      {
        encoding: 'utf8',
        timeout: 120_000,
      },
    );
    console.log(stdout);
    assert.equal(status, 0, `${error ?? ''}${stderr}`);
    assert.match(stdout, /0 missing, 0 invented/);
    assert.match(stdout, /read-only: refused/);
  } finally {
    rmSync(mountPoint, { recursive: true, force: true });
  }
});
