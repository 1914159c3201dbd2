import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BoundedQueue } from './queue.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('a bounded queue', () => {
  test('gives items out in the order they came, to takers in the order they asked', async () => {
    const queue = new BoundedQueue<number>(10);
    const early = [queue.take(), queue.take()];
    for (const item of [1, 2, 3, 4]) assert.ok(queue.offer(item));
    assert.deepEqual(await Promise.all([...early, queue.take(), queue.take()]), [1, 2, 3, 4]);
  });

  test('refuses an offer when it is full and takes it again when there is room', async () => {
    const queue = new BoundedQueue<number>(2);
    assert.deepEqual(
      [1, 2, 3].map((item) => queue.offer(item)),
      [true, true, false],
    );
    assert.equal(queue.length, 2);
    assert.equal(await queue.take(), 1);
    assert.ok(queue.offer(4));
    assert.deepEqual([await queue.take(), await queue.take()], [2, 4]);
  });

  test('makes a push wait for room, first come first served, past no offer', async () => {
    const queue = new BoundedQueue<number>(1);
    const done: number[] = [];
    const pushes = [1, 2, 3].map((item) => queue.push(item).then(() => done.push(item)));
    await turn();
    assert.deepEqual(done, [1]);
    assert.equal(queue.offer(9), false, 'an offer must not overtake those who wait');
    assert.equal(await queue.take(), 1);
    await turn();
    assert.deepEqual(done, [1, 2]);
    assert.deepEqual([await queue.take(), await queue.take()], [2, 3]);
    await Promise.all(pushes);
    assert.equal(queue.length, 0);
  });

  test('never holds more than its length, with many producers and a slow consumer', async () => {
    const queue = new BoundedQueue<number>(3);
    const producers = Array.from({ length: 5 }, async (_, producer) => {
      for (let item = 0; item < 20; item++) await queue.push(producer * 100 + item);
    });
    const taken: number[] = [];
    while (taken.length < 100) {
      assert.ok(queue.length <= 3);
      taken.push((await queue.take())!);
      await turn();
    }
    await Promise.all(producers);
    for (let producer = 0; producer < 5; producer++) {
      const own = taken.filter((item) => Math.floor(item / 100) === producer);
      assert.deepEqual(
        own,
        own.toSorted((a, b) => a - b),
        'the items of one producer keep their order',
      );
      assert.equal(own.length, 20);
    }
  });

  test('a closed one is drained, then empty for ever', async () => {
    const queue = new BoundedQueue<number>(2);
    queue.offer(1);
    queue.offer(2);
    queue.close();
    queue.close(new Error('too late'));
    assert.equal(queue.offer(3), false);
    assert.deepEqual(
      [await queue.take(), await queue.take(), await queue.take(), await queue.take()],
      [1, 2, undefined, undefined],
    );
  });

  test('closing wakes those who wait: takers with nothing, producers with QueueClosed', async () => {
    const empty = new BoundedQueue<number>(1);
    const taking = empty.take();
    empty.close();
    assert.equal(await taking, undefined);

    const full = new BoundedQueue<number>(1);
    full.offer(1);
    const pushing = full.push(2);
    full.close();
    await assert.rejects(pushing, { code: 'QueueClosed' });
    await assert.rejects(full.push(3), { code: 'QueueClosed' });
    assert.deepEqual([await full.take(), await full.take()], [1, undefined]);
  });

  test('closing with an error rejects whoever takes after the last item, and is the cause for producers', async () => {
    const reason = new Error('the source broke');
    const queue = new BoundedQueue<number>(1);
    queue.offer(1);
    const pushing = queue.push(2);
    queue.close(reason);
    await assert.rejects(pushing, { code: 'QueueClosed', cause: reason });
    assert.equal(await queue.take(), 1);
    await assert.rejects(queue.take(), reason);
    await assert.rejects(queue.take(), reason);
    const waiting = new BoundedQueue<number>(1);
    const taking = waiting.take();
    waiting.close(reason);
    await assert.rejects(taking, reason);
  });

  test('can be iterated until it is closed', async () => {
    const queue = new BoundedQueue<number>(1);
    const producing = (async () => {
      for (const item of [1, 2, 3]) await queue.push(item);
      queue.close();
    })();
    const seen: number[] = [];
    for await (const item of queue) seen.push(item);
    await producing;
    assert.deepEqual(seen, [1, 2, 3]);
  });

  test('needs room for one item', () => {
    assert.throws(() => new BoundedQueue(0), { code: 'AssertionFailed' });
  });
});
