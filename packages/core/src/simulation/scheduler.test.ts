import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { breathe, sleep } from '../clock.ts';
import { seededRandom } from '../random.ts';
import { Scheduler } from './scheduler.ts';

/** Five tasks that sleep, yield and wait for each other; returns the sequence of their steps. */
async function trace(seed: number): Promise<string[]> {
  const random = seededRandom(seed);
  const scheduler = new Scheduler(random);
  const lines: string[] = [];
  const task = async (name: string) => {
    for (let step = 0; step < 5; step++) {
      await breathe(scheduler);
      if (random.fraction() < 0.5) await sleep(scheduler, random.below(3));
      lines.push(`${name}${step}@${scheduler.monotonicMs()}`);
    }
  };
  await scheduler.run(Promise.all(['a', 'b', 'c', 'd', 'e'].map(task)));
  return lines;
}

describe('the scheduler', () => {
  test('plays the same world again for the same seed, and many worlds for many seeds', async () => {
    const traces = new Set<string>();
    for (let seed = 1; seed <= 20; seed++) {
      const first = await trace(seed);
      assert.equal(first.length, 25);
      assert.deepEqual(await trace(seed), first);
      traces.add(first.join());
    }
    assert.equal(traces.size, 20);
  });

  test('fires timers in the order of their time, those of one instant in an order of the seed', async () => {
    const orders = new Set<string>();
    for (let seed = 0; seed < 50; seed++) {
      const scheduler = new Scheduler(seededRandom(seed));
      const fired: string[] = [];
      scheduler.after(20, () => fired.push('late'));
      for (const name of ['x', 'y', 'z']) scheduler.after(10, () => fired.push(name));
      scheduler.after(5, () => fired.push('early'));
      await scheduler.advance(30);
      assert.deepEqual([fired[0], fired[4]], ['early', 'late']);
      orders.add(fired.slice(1, 4).join(''));
    }
    assert.equal(orders.size, 6, 'every order of three comes up');
  });

  test('does not fire what was cancelled', async () => {
    const scheduler = new Scheduler(seededRandom(1));
    const fired: string[] = [];
    const cancelled = scheduler.after(10, () => fired.push('cancelled'));
    scheduler.after(10, () => fired.push('kept'));
    cancelled.cancel();
    cancelled.cancel();
    await scheduler.advance(100);
    assert.deepEqual(fired, ['kept']);
  });

  test('advances exactly as far as told, and fires what comes due on the way', async () => {
    const scheduler = new Scheduler(seededRandom(1), 1_000_000);
    const fired: number[] = [];
    const again = () => {
      fired.push(scheduler.monotonicMs());
      if (fired.length < 10) scheduler.after(30, again);
    };
    scheduler.after(30, again);
    await scheduler.advance(100);
    assert.deepEqual(fired, [30, 60, 90]);
    assert.deepEqual([scheduler.monotonicMs(), scheduler.now()], [100, 1_000_100]);
    await scheduler.advance(20);
    assert.deepEqual(fired, [30, 60, 90, 120]);
  });

  test('lets promises settle before time moves', async () => {
    const scheduler = new Scheduler(seededRandom(1));
    const order: string[] = [];
    const chain = async () => {
      for (let at = 0; at < 20; at++) await Promise.resolve();
      order.push(`chain at ${scheduler.monotonicMs()}`);
    };
    scheduler.after(1, () => order.push('timer'));
    await scheduler.run(Promise.all([chain(), sleep(scheduler, 1)]));
    assert.deepEqual(order, ['chain at 0', 'timer']);
  });

  test('answers what the world answered, or rejects as it did', async () => {
    const scheduler = new Scheduler(seededRandom(1));
    assert.equal(await scheduler.run(sleep(scheduler, 5).then(() => 'done')), 'done');
    const failing = sleep(scheduler, 5).then(() => Promise.reject(new Error('planned')));
    await assert.rejects(scheduler.run(failing), /planned/);
    assert.equal(scheduler.monotonicMs(), 10);
  });

  test('rejects when the world waits for something that never comes', async () => {
    const scheduler = new Scheduler(seededRandom(1));
    await assert.rejects(scheduler.run(new Promise(() => {})), /deadlock/);
    const afterwards = sleep(scheduler, 10).then(() => new Promise(() => {}));
    await assert.rejects(scheduler.run(afterwards), /deadlock/);
    assert.equal(scheduler.monotonicMs(), 10);
  });

  test('refuses a delay that is no time', () => {
    const scheduler = new Scheduler(seededRandom(1));
    for (const delayMs of [-1, NaN])
      assert.throws(() => scheduler.after(delayMs, () => {}), { code: 'AssertionFailed' });
  });
});
