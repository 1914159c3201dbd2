import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@hangar/core';
import type { Call } from './call.ts';
import { withOtherVersions } from './other-versions.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A call of a resource whose conversions the test controls. */
function callOf(convert: () => Promise<object>): Call {
  const target = { kind: 'Widget', mergeType: {} };
  const plane = { clock: systemClock, catalogue: { find: () => target } };
  return { plane, resource: { name: 'widgets', kind: 'Widget', convert } } as unknown as Call;
}

test('a conversion that fails after the last round is not an unhandled rejection', async () => {
  let conversions = 0;
  let failLast = (_error: Error): void => {};
  const call = callOf(() => {
    conversions++;
    if (conversions <= 64) return Promise.resolve({});
    return new Promise((_, reject) => (failLast = reject));
  });
  const run = withOtherVersions(call, ({ convert }) => {
    for (let at = 0; at <= conversions; at++) convert!({ at }, 'example.com/v1');
  });
  await assert.rejects(async () => run, /converted too many times/);
  assert.equal(conversions, 65);
  failLast(new Error('the webhook does not answer'));
  // An unhandled rejection is reported in these turns, and fails the test.
  await turn();
  await turn();
});
