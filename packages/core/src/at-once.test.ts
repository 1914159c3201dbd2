import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachAtOnce, Permits } from './at-once.ts';

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

test('tasks wait for permits in order, and a failed or aborted one returns its permit', async () => {
  const permits = new Permits(2);
  const tasks = Array.from({ length: 5 }, () => Promise.withResolvers<number>());
  const stop = new AbortController();
  const started: number[] = [];
  const running = tasks.map(({ promise }, at) =>
    permits.run(
      () => {
        started.push(at);
        return promise;
      },
      at === 2 ? stop.signal : undefined,
    ),
  );
  assert.deepEqual(started, [0, 1]);
  stop.abort();
  await assert.rejects(running[2]!, { code: 'Aborted' });
  tasks[0]!.reject(new Error('failed'));
  await assert.rejects(running[0]!, { message: 'failed' });
  tasks[3]!.resolve(3);
  assert.equal(await running[3], 3);
  tasks[1]!.resolve(1);
  tasks[4]!.resolve(4);
  assert.deepEqual(await Promise.all([running[1], running[4]]), [1, 4]);
  assert.deepEqual(started, [0, 1, 3, 4]);
});
