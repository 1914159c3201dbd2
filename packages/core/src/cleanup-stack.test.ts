import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CleanupStack } from './cleanup-stack.ts';

test('cleanups run in the reverse order, one at a time', async () => {
  const done: number[] = [];
  const stack = new CleanupStack();
  for (const index of [1, 2, 3]) {
    stack.defer(async () => {
      await Promise.resolve();
      done.push(index);
    });
  }
  await stack.run();
  assert.deepEqual(done, [3, 2, 1]);
});

test('a cleanup runs once', async () => {
  let count = 0;
  const stack = new CleanupStack();
  stack.defer(() => count++);
  await Promise.all([stack.run(), stack.run()]);
  assert.equal(count, 1);
});

test('moved cleanups run with the new stack only', async () => {
  let count = 0;
  let moved: CleanupStack;
  {
    await using stack = new CleanupStack();
    stack.defer(() => count++);
    moved = stack.move();
  }
  assert.equal(count, 0);
  await moved.run();
  assert.equal(count, 1);
});

test('a failed cleanup does not keep the others from running', async () => {
  let count = 0;
  const stack = new CleanupStack();
  stack.defer(() => count++);
  stack.defer(() => Promise.reject(new Error('first')));
  await assert.rejects(stack.run(), { message: 'first' });
  assert.equal(count, 1);
});

test('several failures are one AggregateError', async () => {
  const stack = new CleanupStack();
  stack.defer(() => Promise.reject(new Error('b')));
  stack.defer(() => Promise.reject(new Error('a')));
  await assert.rejects(stack.run(), (error: AggregateError) => {
    assert.deepEqual(
      error.errors.map(({ message }: Error) => message),
      ['a', 'b'],
    );
    return true;
  });
});
