import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Failpoints } from '@hangar/core';
import { Writes } from '../control-plane/writes.ts';
import { namedWrites, recordWriteName } from './named-writes.ts';
import { startedRecord, withAttempt, withOutcome, withoutAttempt } from './record.ts';
import { testMigrations } from './testing/migration-platform.ts';
import { defaultTimings } from './timings.ts';

const started = startedRecord({ id: 'm', from: 'Virtual' }, 0, defaultTimings);
const attempt = withAttempt(started, 1);
const switched = withOutcome(attempt, { outcome: 'Switched', nowMs: 2, revision: 7, message: '' }, defaultTimings);
const served = { ...switched, step: 'Registrations' as const };

test('every change of a record has a name', () => {
  const aborted = withOutcome(started, { outcome: 'Aborted', nowMs: 2, message: '' }, defaultTimings);
  const undone = withoutAttempt(attempt, { nowMs: 2, message: '', retryMs: 1 });
  const names = [
    recordWriteName(started, { ...started, message: 'starting' }),
    recordWriteName(started, { ...started, step: 'CopyAndFollow' }),
    recordWriteName(started, attempt),
    recordWriteName(attempt, undone),
    recordWriteName(attempt, switched),
    recordWriteName(switched, served),
    recordWriteName(started, aborted),
    recordWriteName(served, { ...served, completedAt: new Date(3).toISOString() }),
  ];
  assert.deepEqual(names, [
    'migration-progress',
    'migration-copy-and-follow',
    'migration-attempt',
    'migration-attempt-end',
    'migration-switched',
    'migration-served',
    'migration-aborted',
    'migration-complete',
  ]);
});

test('a failpoint before a change of the tenant prevents it, one after it does not', async () => {
  const failpoints = new Failpoints();
  const { signal } = new AbortController();
  const { platform } = testMigrations();
  const tenant = namedWrites(platform.tenant('a'), new Writes(failpoints));
  const planted = new Error('planted');
  failpoints.arm('controlplane.migration-hold.before', { times: 1, throws: planted });
  await assert.rejects(tenant.hold('m', signal), planted);
  assert.equal((await tenant.state(signal)).heldBy, undefined);
  failpoints.arm('controlplane.migration-hold.after', { times: 1, throws: planted });
  await assert.rejects(tenant.hold('m', signal), planted);
  assert.equal((await tenant.state(signal)).heldBy, 'm');
  await tenant.release('m', signal);
  assert.equal((await tenant.state(signal)).heldBy, undefined);
});
