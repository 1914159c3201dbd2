import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '@hangar/core/command-line';
import { ShardCoordinator } from '@hangar/runtime/clusters';
import { timingsOf } from './timings.ts';

const read = (lease = '7s', retry = '2s', deadline?: string, stopGraceMs = 1500) =>
  timingsOf(
    {
      'leader-elect-lease-duration': lease,
      'leader-elect-retry-period': retry,
      'leader-elect-renew-deadline': deadline,
    },
    stopGraceMs,
  );

/** Rounded, as users would write them. */
const inMs = (timings: object): object =>
  Object.fromEntries(
    Object.entries(timings).map(([name, value]) => [name, name.endsWith('Ms') ? Math.round(value) : value]),
  );

test('what is not said is what 15 seconds to take over need', () => {
  assert.deepEqual(inMs(read()), {
    leaseMs: 7_000,
    renewEveryMs: 2_000,
    requestTimeoutMs: 1_500,
    clockSkewMax: 0.05,
    marginMs: 500,
    drainTimeoutMs: 5_000,
  });
});

test('those of kube-controller-manager are what they say: nothing runs 10 s after the last renewal, others begin after 15', () => {
  const timings = read('15s', '2s', '10s');
  assert.deepEqual([timings.leaseMs, timings.renewEveryMs], [15_000, 2_000]);
  assert.equal(Math.round(timings.leaseMs * (1 - timings.clockSkewMax) - timings.marginMs), 10_000);
});

test('programs that may take long to end have the time', () => {
  assert.equal(read('7s', '2s', undefined, 30_000).drainTimeoutMs, 33_500);
});

test('what leaves no time to try again is refused, with what to do', () => {
  const refuses = (args: Parameters<typeof read>, like: RegExp): void =>
    assert.throws(
      () => read(...args),
      (error: Error) => error instanceof UsageError && like.test(error.message),
    );
  refuses(
    ['7s', '6s'],
    /^--leader-elect-retry-period: 6000ms leaves no time .* use a longer lease or a shorter period/,
  );
  refuses(['7s', '2s', '7s'], /^--leader-elect-renew-deadline must be at most 6150ms for a lease of 7000ms/);
  refuses(
    ['7s', '2s', '2300ms'],
    /retry-period: 2000ms leaves no time for a second attempt before the renew deadline of 2300ms/,
  );
  refuses(['500ms', '100ms'], /leaves no time/);
  refuses(['0s'], /lease-duration: "0s" must be between 100ms and 3600s/);
  refuses(['x'], /lease-duration: "x" is not a duration/);
});

test('whatever is accepted, the coordinator accepts, too', () => {
  const leases = { status: {} } as never;
  for (const lease of ['1500ms', '3s', '7s', '15s', '137s', '1h']) {
    for (const retry of ['100ms', '250ms', '500ms', '2s', '10s']) {
      for (const deadline of [undefined, '1s', '2500ms', '10s']) {
        let timings;
        try {
          timings = read(lease, retry, deadline);
        } catch (error) {
          assert.ok(error instanceof UsageError);
          continue;
        }
        assert.ok(new ShardCoordinator({ client: leases, peer: 'a', timings }), `${lease} ${retry} ${deadline}`);
      }
    }
  }
});
