import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { breathe, sleep } from '@hangar/core';
import { virtualClock } from './virtual-clock.ts';

describe('the virtual clock', () => {
  test('stands still until it is moved, but what needs no time happens', async () => {
    const clock = virtualClock({ startMs: 0 });
    let isOver = false;
    const sleeping = sleep(clock, 10).then(() => (isOver = true));
    for (let at = 0; at < 5; at++) await breathe(clock);
    assert.deepEqual([isOver, clock.now()], [false, 0]);
    await clock.advance(9);
    assert.equal(isOver, false);
    await clock.advance(1);
    assert.deepEqual([isOver, clock.now()], [true, 10]);
    await sleeping;
  });

  test('leaves nothing behind that is due when a drive ends', async () => {
    const clock = virtualClock();
    let steps = 0;
    const task = (async () => {
      await sleep(clock, 1);
      for (; steps < 100; steps++) await breathe(clock);
    })();
    await clock.run(sleep(clock, 1));
    await task;
    assert.equal(steps, 100);
  });

  test('does not go back when two move it at once', async () => {
    const clock = virtualClock();
    await Promise.all([clock.advance(1_000), clock.run(sleep(clock, 5_000)), clock.settle()]);
    assert.equal(clock.monotonicMs(), 5_000);
  });

  test('waits for what is so, and says when it is not', async () => {
    const clock = virtualClock();
    let count = 0;
    void (async () => {
      for (;;) {
        await sleep(clock, 1_000);
        count++;
      }
    })();
    await clock.until(() => count === 5);
    assert.ok(clock.monotonicMs() >= 5_000 && clock.monotonicMs() < 5_100);
    await assert.rejects(
      clock.until(() => false, { withinMs: 100 }),
      /did not become true within 100 ms/,
    );
  });

  test('cancels what it was asked for, also when it is due at once', async () => {
    const clock = virtualClock();
    clock.soon(() => assert.fail('cancelled')).cancel();
    clock.after(5, () => assert.fail('cancelled')).cancel();
    await clock.advance(10);
  });

  test('plays the same for the same seed', async () => {
    const order = async (seed: number): Promise<string> => {
      const clock = virtualClock({ seed });
      const done: string[] = [];
      for (const name of 'abcdef') clock.after(5, () => done.push(name));
      await clock.advance(5);
      return done.join('');
    };
    assert.equal(await order(7), await order(7));
    const all = await Promise.all(Array.from({ length: 20 }, (_, seed) => order(seed)));
    assert.ok(new Set(all).size > 10);
  });
});
