import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import type { LeaseId } from '../contract.ts';
import { StoreError } from '../errors.ts';
import { LeaseKeeper } from './lease-keeper.ts';

function world(revoke: (id: LeaseId) => Promise<unknown> = () => Promise.resolve()) {
  const scheduler = new Scheduler(seededRandom(1));
  const ended: string[] = [];
  const keeper = new LeaseKeeper(scheduler, (id) => {
    ended.push(`${id} at ${Math.round(scheduler.monotonicMs())}`);
    return revoke(id);
  });
  return { scheduler, keeper, ended };
}

const lease = (id: string, ttlMs: number) => ({ id: id as LeaseId, ttlMs });

describe('the lease keeper', () => {
  test('ends each lease after its time, not before', async () => {
    const { scheduler, keeper, ended } = world();
    keeper.keep(lease('long', 10_000));
    keeper.keep(lease('short', 2_000));
    keeper.keep(lease('middle', 5_000));
    await scheduler.advance(1_999);
    assert.deepEqual(ended, []);
    await scheduler.advance(20_000);
    assert.deepEqual(ended, ['short at 2000', 'middle at 5000', 'long at 10000']);
  });

  test('gives a renewed lease its whole time again', async () => {
    const { scheduler, keeper, ended } = world();
    keeper.keep(lease('a', 2_000));
    for (let at = 0; at < 5; at++) {
      await scheduler.advance(1_500);
      keeper.renew('a' as LeaseId);
    }
    assert.deepEqual(ended, []);
    await scheduler.advance(10_000);
    assert.deepEqual(ended, ['a at 9500']);
  });

  test('reports the remaining time of a lease', async () => {
    const { scheduler, keeper } = world();
    keeper.keep(lease('a', 10_000));
    await scheduler.advance(4_000);
    assert.equal(keeper.remainingMs('a' as LeaseId), 6_000);
    keeper.renew('a' as LeaseId);
    assert.equal(keeper.remainingMs('a' as LeaseId), 10_000);
    assert.throws(() => keeper.remainingMs('b' as LeaseId), { code: 'LeaseNotFound' });
  });

  test('does not know a lease that ended, was forgotten or never was', async () => {
    const { scheduler, keeper, ended } = world();
    keeper.keep(lease('ended', 1_000));
    keeper.keep(lease('forgotten', 1_000));
    keeper.forget('forgotten' as LeaseId);
    await scheduler.advance(5_000);
    assert.deepEqual(ended, ['ended at 1000']);
    for (const id of ['ended', 'forgotten', 'never']) {
      assert.throws(() => keeper.renew(id as LeaseId), { code: 'LeaseNotFound' });
    }
  });

  test('tries again when a lease cannot be ended, until it can', async () => {
    let refusals = 3;
    const { scheduler, keeper, ended } = world(async () => {
      if (refusals-- > 0) throw new StoreError('StorageFull', 'no space');
    });
    keeper.keep(lease('a', 5_000));
    await scheduler.advance(60_000);
    assert.deepEqual(ended, ['a at 5000', 'a at 6000', 'a at 7000', 'a at 8000']);
  });

  test('gives a lease that could not be ended its own time when it is renewed', async () => {
    let refusals = 1;
    const { scheduler, keeper, ended } = world(async () => {
      if (refusals-- > 0) throw new StoreError('StorageFull', 'no space');
    });
    keeper.keep(lease('a', 60_000));
    await scheduler.advance(60_500);
    keeper.renew('a' as LeaseId);
    await scheduler.advance(59_000);
    assert.deepEqual(ended, ['a at 60000']);
    await scheduler.advance(2_000);
    assert.deepEqual(ended, ['a at 60000', 'a at 120500']);
  });

  test('does not try again what is already gone', async () => {
    for (const code of ['LeaseNotFound', 'Closed'] as const) {
      const { scheduler, keeper, ended } = world(() => Promise.reject(new StoreError(code, 'gone')));
      keeper.keep(lease('a', 1_000));
      await scheduler.advance(60_000);
      assert.deepEqual(ended, ['a at 1000']);
    }
  });

  test('keeps leases longer than a timer of the system can', async () => {
    const { scheduler, keeper, ended } = world();
    keeper.keep(lease('a', 2 ** 31 + 5_000));
    await scheduler.advance(2 ** 31);
    assert.deepEqual(ended, []);
    await scheduler.advance(6_000);
    assert.equal(ended.length, 1);
  });

  test('sets one timer for ten thousand leases, and none for none', async () => {
    const scheduler = new Scheduler(seededRandom(1));
    let timers = 0;
    const counting = {
      now: () => scheduler.now(),
      monotonicMs: () => scheduler.monotonicMs(),
      soon: (callback: () => void) => scheduler.soon(callback),
      after: (delayMs: number, callback: () => void) => {
        timers++;
        return scheduler.after(delayMs, callback);
      },
    };
    let ended = 0;
    const keeper = new LeaseKeeper(counting, async () => ended++);
    await scheduler.advance(1_000);
    assert.equal(timers, 0);
    for (let at = 0; at < 10_000; at++) keeper.keep(lease(String(at), 10_000 + at / 100));
    await scheduler.advance(20_000);
    assert.equal(ended, 10_000);
    assert.ok(timers < 10, `${timers} timers`);
  });

  test('does nothing any more once stopped, whatever was under way', async () => {
    const { promise, reject } = Promise.withResolvers<void>();
    const { scheduler, keeper, ended } = world(() => promise);
    keeper.keep(lease('ending', 1_000));
    keeper.keep(lease('later', 5_000));
    await scheduler.advance(1_000);
    keeper.stop();
    reject(new StoreError('StorageFull', 'no space'));
    keeper.keep(lease('granted while closing', 1_000));
    await scheduler.advance(60_000);
    assert.deepEqual(ended, ['ending at 1000']);
  });
});
