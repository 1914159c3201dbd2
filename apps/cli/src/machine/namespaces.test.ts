import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { initScript } from './namespaces.ts';

test('the first process of a node ignores signals of a terminal, and exits when its input is closed', async () => {
  const first = spawn('sh', ['-c', initScript], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(first, 'exit');
  const [ready] = (await once(first.stdout, 'data')) as [Buffer];
  assert.equal(ready.toString(), 'ready\n');
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) first.kill(signal);
  first.stdin.end();
  assert.deepEqual(await exited, [0, null]);
});
