import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatElapsed, withElapsed } from './elapsed.ts';

test('elapsed time is written for a person', () => {
  assert.equal(formatElapsed(41_700), '42 s');
  assert.equal(formatElapsed(187_000), '3 min 07 s');
});

test('long work gives a sign of life every ten seconds, and none after its end', async (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] });
  const lines: string[] = [];
  const work = Promise.withResolvers<string>();
  const result = withElapsed(
    { log: (line) => lines.push(line) },
    () => 'still there',
    () => work.promise,
  );
  context.mock.timers.tick(25_000);
  assert.equal(lines.length, 2);
  work.resolve('done');
  assert.equal(await result, 'done');
  context.mock.timers.tick(25_000);
  assert.equal(lines.length, 2);
});
