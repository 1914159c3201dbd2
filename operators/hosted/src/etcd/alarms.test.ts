import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alarmFault } from './alarms.ts';

const mebibyte = 2 ** 20;
const alarms = [
  { type: 'NOSPACE' as const, member: 'demo-etcd-1', dbSizeBytes: 25 * mebibyte, quotaBytes: 24 * mebibyte },
];

test('an alarm NOSPACE says what the operator does', () => {
  const { reason, message } = alarmFault({ alarms, space: { attempts: 0 } })!;
  assert.equal(reason, 'NoSpace');
  assert.match(message, /member "demo-etcd-1" uses 25Mi of its quota of 24Mi\. The operator removes old revisions/);
});

test('after a failed attempt it says what a user must do', () => {
  const { message } = alarmFault({ alarms, space: { attempts: 2 } })!;
  assert.match(message, /\(attempts: 2\), and the data still does not fit: delete objects/);
  assert.ok(message.length < 1_024);
});

test('no alarm is no fault', () => {
  assert.equal(alarmFault({ alarms: [] }), undefined);
});
