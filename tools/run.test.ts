import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from './run.ts';

const node = process.execPath;

test('the output of a program that ends well is returned', async () => {
  const lines: string[] = [];
  const script = 'console.log("out"); console.error("a\\nb")';
  const result = await run(node, ['-e', script], { timeoutMs: 20_000, onErrorLine: (line) => lines.push(line) });
  assert.deepEqual(result, { stdout: 'out\n', stderr: 'a\nb', failure: undefined });
  assert.deepEqual(lines, ['a', 'b']);
});

test('an exit code is a failure', async () => {
  const { failure } = await run(node, ['-e', 'process.exit(3)'], { timeoutMs: 20_000 });
  assert.equal(failure, 'exit code 3');
});

test('a program that is missing is a failure, not an exception', async () => {
  const { failure } = await run('/no/such/program', [], { timeoutMs: 20_000 });
  assert.equal(failure, '/no/such/program is not there');
});

test('a program that takes too long is ended', async () => {
  const { failure } = await run(node, ['-e', 'setInterval(() => {}, 1000)'], { timeoutMs: 200 });
  assert.equal(failure, 'no end after 0.2 s');
});
