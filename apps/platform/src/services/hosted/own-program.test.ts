import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { ownImage, ownProgram } from './own-program.ts';

const run = promisify(execFile);

test('pods start this installation without PATH, also in a folder with a quote and spaces', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "hangar's program "));
  context.after(() => rm(folder, { recursive: true }));
  const script = join(folder, 'main.js');
  await writeFile(script, 'console.log(process.argv.slice(2).join("|"))');
  const source = await ownProgram(folder, script);
  const image = await source(ownImage, { repository: 'localhost/hangar', name: 'hangar', tag: '1', digest: undefined });
  const { path } = image!.executable('hangar')!;
  const { stdout } = await run(path, ['etcd', 'two words'], { env: {} });
  assert.equal(stdout, 'etcd|two words\n');
});
