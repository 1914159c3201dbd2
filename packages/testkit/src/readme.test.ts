/** Runs the example of the README as printed. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';

test('the example in the README runs', async () => {
  const text = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const [, example] = /```ts\n([\s\S]+?)```/.exec(text) ?? [];
  assert.ok(example);
  const env = { ...process.env };
  delete env['NODE_TEST_CONTEXT'];
  const args = ['--input-type=module-typescript', '--eval', example];
  const child = spawn(process.execPath, args, { env, cwd: import.meta.dirname, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const code = await new Promise((resolve) => child.on('close', resolve));
  assert.equal(code, 0, said);
  assert.match(said, /pass 1/);
});
