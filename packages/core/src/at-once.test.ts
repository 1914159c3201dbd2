import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachAtOnce } from './at-once.ts';

test('as many as allowed are under way, and no more', async () => {
  let [underWay, most] = [0, 0];
  const done: number[] = [];
  await eachAtOnce(3, [1, 2, 3, 4, 5, 6, 7], async (item) => {
    most = Math.max(most, ++underWay);
    await new Promise((resolve) => setImmediate(resolve));
    underWay--;
    done.push(item);
  });
  assert.deepEqual([most, done.toSorted()], [3, [1, 2, 3, 4, 5, 6, 7]]);
});

test('after a failure nothing is begun, what was under way ends, and the first is told', async () => {
  const [begun, ended]: [number[], number[]] = [[], []];
  const failing = eachAtOnce(2, [1, 2, 3, 4], async (item) => {
    begun.push(item);
    if (item === 1) throw new Error('first');
    await new Promise((resolve) => setImmediate(resolve));
    ended.push(item);
    throw new Error('second');
  });
  await assert.rejects(failing, { message: 'first' });
  assert.deepEqual([begun, ended], [[1, 2], [2]]);
});

test('nothing is done of nothing', async () => {
  await eachAtOnce(4, [], () => assert.fail());
});
