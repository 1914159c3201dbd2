import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

test('expressions of one request, and what is kept of them, fit into a small heap', async () => {
  // A thread that needs more is terminated with ERR_WORKER_OUT_OF_MEMORY.
  const worker = new Worker(new URL('testing/memory-attacks.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: 160 },
  });
  const survived: string[] = [];
  worker.on('message', (name: string) => survived.push(name));
  try {
    const [code] = (await once(worker, 'exit')) as [number];
    assert.equal(code, 0);
  } catch (error) {
    assert.fail(`after ${survived.at(-1) ?? 'nothing'}: ${String(error)}`);
  }
  assert.equal(survived.length, 14);
});
