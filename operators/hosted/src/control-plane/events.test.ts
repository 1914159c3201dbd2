import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HostedControlPlaneStatus } from '../api/index.ts';
import { eventsBetween } from './events.ts';

const status = (ready: 'True' | 'False', reason: string, version?: string): HostedControlPlaneStatus => ({
  conditions: [
    { type: 'Ready', status: ready, reason, message: 'because', lastTransitionTime: '2026-01-01T00:00:00Z' },
  ],
  ...(version === undefined ? {} : { version }),
});
const reasons = (before: HostedControlPlaneStatus | undefined, after: HostedControlPlaneStatus): string[] =>
  eventsBetween(before, after).map(({ reason }) => reason);

test('progress before the first time is not an event, being ready is', () => {
  assert.deepEqual(reasons(undefined, status('False', 'MembersNotReady')), []);
  assert.deepEqual(reasons(status('False', 'MembersNotReady'), status('True', 'Reconciled', 'v1.36.4')), ['Ready']);
});

test('a fault is a warning once, and again when its reason changes', () => {
  const [event] = eventsBetween(undefined, status('False', 'MissingCAKey'));
  assert.deepEqual(event, { type: 'Warning', reason: 'NotReady', note: 'MissingCAKey: because' });
  assert.deepEqual(reasons(status('False', 'MissingCAKey'), status('False', 'MissingCAKey')), []);
  assert.deepEqual(reasons(status('False', 'MissingCAKey'), status('False', 'InvalidCA')), ['NotReady']);
});

test('a control plane that is no longer ready is a warning for every reason', () => {
  assert.deepEqual(reasons(status('True', 'Reconciled', 'v1.36.4'), status('False', 'MembersNotReady', 'v1.36.4')), [
    'NotReady',
  ]);
});

test('a complete upgrade is an event', () => {
  const [before, after] = [status('False', 'DeploymentRollingOut', 'v1.35.0'), status('True', 'Reconciled', 'v1.36.4')];
  assert.deepEqual(reasons(before, after), ['Upgraded', 'Ready']);
});
