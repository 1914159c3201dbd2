/** In separate processes: a test cannot receive signals. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

const place = new URL('./stop-signals.ts', import.meta.url).href;

async function started(code: string): Promise<ChildProcess> {
  const script = `const { StopSignals } = await import('${place}'); const signals = new StopSignals(); ${code}; console.log('up'); setInterval(() => {}, 1_000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout!, 'data');
  return child;
}

const codeOf = async (child: ChildProcess): Promise<unknown> => (await once(child, 'exit'))[0];

test('one signal, also when it comes twice at once, ends in good order', async () => {
  const child = await started(`signals.onStop(() => new Promise((resolve) => setTimeout(resolve, 200)))`);
  const code = codeOf(child);
  child.kill('SIGINT');
  await sleep(20);
  child.kill('SIGINT');
  assert.equal(await code, 0);
});

test('a second one ends what does not end', async () => {
  const child = await started('signals.onStop(() => new Promise(() => {}))');
  const code = codeOf(child);
  child.kill('SIGTERM');
  await sleep(400);
  child.kill('SIGINT');
  assert.equal(await code, 1);
});

test('who is asked to end while it starts ends when it has started', async () => {
  const child = await started('setTimeout(() => signals.onStop(() => Promise.resolve()), 200)');
  const code = codeOf(child);
  child.kill('SIGINT');
  assert.equal(await code, 0);
});
