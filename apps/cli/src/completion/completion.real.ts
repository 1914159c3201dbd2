/** Runs the completion scripts in real shells: bash always, zsh and fish where they are installed. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { completionScripts } from './scripts.ts';

const run = promisify(execFile);
const entry = fileURLToPath(new URL('../../../../bin/hangar.js', import.meta.url));

/** A folder with `hangar`, the scripts, and a file to complete. */
let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hangar-completion-'));
  await writeFile(join(folder, 'hangar'), `#!/bin/sh\nexec ${process.execPath} ${entry} "$@"\n`);
  await chmod(join(folder, 'hangar'), 0o755);
  await writeFile(join(folder, 'a file.backup'), '');
  for (const [shell, script] of Object.entries(completionScripts))
    await writeFile(join(folder, `script.${shell}`), script);
});

after(() => rm(folder, { recursive: true, force: true }));

const environment = () => ({ ...process.env, PATH: `${folder}:${process.env['PATH']}` });

/** Returns the candidates of bash for the line, whose last word is being typed. */
async function bashOffers(...line: string[]): Promise<string[]> {
  const program = `source script.bash
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_hangar
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await run('bash', ['-c', program, 'bash', 'hangar', ...line], { cwd: folder, env: environment() });
  return stdout.split('\n').filter((word) => word !== '');
}

const isInstalled = (shell: string): Promise<boolean> =>
  run(shell, ['-c', 'true']).then(
    () => true,
    () => false,
  );

describe('bash', () => {
  test('completes commands, options, their values and files', async () => {
    assert.deepEqual(await bashOffers('de'), ['describe', 'delete']);
    assert.deepEqual(await bashOffers('create', 'x', '--no-'), ['--no-wait']);
    assert.deepEqual(await bashOffers('get', '--output', '=', 'j'), ['json']);
    assert.deepEqual(await bashOffers('restore', 'x', '-f', 'a'), ['a file.backup']);
    assert.deepEqual(await bashOffers('restore', 'x', '-f', 'nothing'), []);
  });

  test('is not disturbed by what was typed', async () => {
    assert.deepEqual(await bashOffers('create', '$(touch owned)', '--no-'), ['--no-wait']);
    assert.deepEqual(await bashOffers('"', ''), await bashOffers('"', ''));
    await assert.rejects(run('test', ['-e', join(folder, 'owned')]));
  });
});

test('zsh and fish read their scripts, where they are installed', async () => {
  for (const shell of ['zsh', 'fish']) {
    if (!(await isInstalled(shell))) continue;
    await run(shell, ['-n', join(folder, `script.${shell}`)]);
  }
});
