import assert from 'node:assert/strict';
import { test } from 'node:test';
import { amountsOf, listOf } from '@hangar/api/quota';
import { RecentRaises } from './recent-raises.ts';

const used = (pods: string, cpu = '0'): ReturnType<typeof amountsOf> => amountsOf({ pods, cpu });

test('what is added is in flight for one window at least and two at most; what is taken away is not', () => {
  const raises = new RecentRaises(1_000);
  raises.told(used('5'), 10_000);
  assert.deepEqual(listOf(raises.inFlight(used('5'), 10_000)), {}, 'where it begins');
  raises.told(used('7', '500m'), 10_900);
  raises.told(used('6', '500m'), 10_950);
  for (const nowMs of [10_950, 11_500, 11_899]) {
    assert.deepEqual(listOf(raises.inFlight(used('6', '500m'), nowMs)), { pods: '2', cpu: '500m' }, String(nowMs));
  }
  assert.deepEqual(listOf(raises.inFlight(used('6', '500m'), 12_900)), {});
});

test('what was read, but not told yet, counts too', () => {
  const raises = new RecentRaises(1_000);
  raises.told(used('5'), 0);
  assert.deepEqual(listOf(raises.inFlight(used('8'), 60_000)), { pods: '3' });
});

test('a long silence ends all of it at once', () => {
  const raises = new RecentRaises(1_000);
  raises.told(used('0'), 0);
  raises.told(used('9'), 100);
  assert.deepEqual(listOf(raises.inFlight(used('9'), 100_000)), {});
});
