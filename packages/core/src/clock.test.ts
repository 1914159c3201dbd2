import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, test } from 'node:test';
import { breathe, sleep, systemClock } from './clock.ts';
import { seededRandom } from './random.ts';
import { Scheduler } from './simulation/scheduler.ts';

describe('the system clock', () => {
  test('fires once, not before the delay', async () => {
    const start = systemClock.monotonicMs();
    const firedAfterMs: number[] = [];
    systemClock.after(20, () => firedAfterMs.push(systemClock.monotonicMs() - start));
    for (let waits = 0; waits < 100 && firedAfterMs.length === 0; waits++) await resolveLater(10);
    await resolveLater(30);
    assert.equal(firedAfterMs.length, 1);
    // Timers count whole milliseconds, and may start to count a little before the call.
    assert.ok(firedAfterMs[0]! >= 18, `after ${firedAfterMs[0]} ms`);
  });

  test('does not fire at once when the delay is longer than a timer of the system can be', async () => {
    for (const delayMs of [2 ** 31, 2 ** 40, Infinity]) {
      let fired = false;
      const timer = systemClock.after(delayMs, () => (fired = true));
      await resolveLater(20);
      timer.cancel();
      assert.equal(fired, false, `${delayMs} ms were over at once`);
    }
  });

  test('never fires what was cancelled, however often', async () => {
    let fired = false;
    for (const timer of [systemClock.after(1, () => (fired = true)), systemClock.soon(() => (fired = true))]) {
      timer.cancel();
      timer.cancel();
    }
    await resolveLater(20);
    assert.equal(fired, false);
  });

  test('does not keep the process alive', () => {
    const before = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const timer = systemClock.after(60_000, () => {});
    assert.equal(process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length, before);
    timer.cancel();
  });

  test('tells the time of day, and a time that only grows', () => {
    assert.ok(Math.abs(systemClock.now() - Date.now()) < 1_000);
    const readings = Array.from({ length: 100 }, () => systemClock.monotonicMs());
    assert.deepEqual(
      readings,
      readings.toSorted((a, b) => a - b),
    );
  });

  test('breathe lets input and output through', async () => {
    const order: string[] = [];
    setImmediate(() => order.push('io'));
    await breathe(systemClock);
    order.push('after');
    assert.deepEqual(order, ['io', 'after']);
  });
});

describe('sleep', () => {
  test('takes as long as it says', async () => {
    const scheduler = new Scheduler(seededRandom(1));
    await scheduler.run(sleep(scheduler, 5_000));
    assert.equal(scheduler.monotonicMs(), 5_000);
  });

  test('rejects at once with Aborted when the signal fires, and sets no timer when it fired before', async () => {
    const scheduler = new Scheduler(seededRandom(1));
    const reason = new Error('enough');
    await assert.rejects(sleep(scheduler, 1_000, AbortSignal.abort(reason)), { code: 'Aborted', cause: reason });
    const controller = new AbortController();
    scheduler.after(300, () => controller.abort(reason));
    await assert.rejects(scheduler.run(sleep(scheduler, 1_000, controller.signal)), { code: 'Aborted', cause: reason });
    assert.equal(scheduler.monotonicMs(), 300);
    await assert.rejects(scheduler.run(new Promise(() => {})), /deadlock/, 'its timer is still set');
  });

  test('leaves no listener on its signal', async () => {
    const scheduler = new Scheduler(seededRandom(1));
    const { signal } = new AbortController();
    for (let at = 0; at < 3; at++) await scheduler.run(sleep(scheduler, 10, signal));
    assert.deepEqual(getEventListeners(signal, 'abort'), []);
  });
});

/** A timer that does keep the process alive. */
function resolveLater(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}
