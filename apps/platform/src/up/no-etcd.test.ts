/** A start that fails prints the reason, and exits with a code that causes a restart: pods depend on both. */

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { run } from '../../../../tools/run.ts';

const program = new URL('../../../../bin/hangar.js', import.meta.url).pathname;

async function started(...args: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'hangar-up-'));
  try {
    const all = [program, 'up', `--data-dir=${folder}`, '--listen=127.0.0.1:0', ...args];
    return await run(process.execPath, all, { timeoutMs: 110_000 });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

test('an etcd that does not answer is waited for, and then named', async () => {
  const { failure, stderr, stdout } = await started('--store=etcd', '--etcd-endpoints=http://127.0.0.1:1');
  assert.equal(failure, 'exit code 1');
  assert.match(stderr, /^hangar: etcd does not answer at http:\/\/127\.0\.0\.1:1/);
  assert.doesNotMatch(stderr, /unsettled|\n {4}at /);
  assert.equal(stdout, '');
});

test('a folder of shared keys that is not there is named, with what makes one', async () => {
  const { failure, stderr } = await started('--store=memory', '--pki-dir=/nowhere');
  assert.equal(failure, 'exit code 2');
  assert.match(stderr, /^hangar: --pki-dir: \/nowhere\/ca\.crt is missing; "hangar pki init DIR" creates/);
});
