import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BackupError } from '@hangar/backup';
import { CodedError } from '@hangar/core';
import { ReferenceFault, TargetError } from '../errors.ts';
import { faultOf } from '../faults.ts';
import { afterFailure, attemptsMax, byteText, includesKeys } from './outcome.ts';

test('faults have a reason, and a retry helps unless the request itself is wrong', () => {
  const cases: readonly (readonly [Error, string, boolean, boolean])[] = [
    [new BackupError('Unavailable', ''), 'Unavailable', false, false],
    [new BackupError('CredentialsExpired', ''), 'CredentialsExpired', false, false],
    [new BackupError('StorageFull', ''), 'StorageFull', false, false],
    [new BackupError('Corrupted', ''), 'Corrupted', false, true],
    [new BackupError('Truncated', ''), 'Truncated', false, true],
    [new BackupError('NotFound', ''), 'NotFound', false, true],
    [new BackupError('WrongKey', ''), 'WrongKey', true, true],
    [new TargetError('NotFound', ''), 'ControlPlaneNotFound', true, true],
    [new TargetError('NotReady', ''), 'ControlPlaneNotReady', false, false],
    [new TargetError('Refused', ''), 'ControlPlaneRefused', true, true],
    [new ReferenceFault('SecretNotFound', ''), 'SecretNotFound', false, false],
    [new ReferenceFault('ReferenceNotAllowed', ''), 'ReferenceNotAllowed', true, true],
    // Of the API server, not of this package.
    [new CodedError('NotFound', ''), 'BackupFailed', false, false],
  ];
  for (const [error, reason, isPermanentBackup, isPermanentRestore] of cases) {
    assert.deepEqual(faultOf(error, 'backup'), { reason, message: '', isPermanent: isPermanentBackup });
    assert.equal(faultOf(error, 'restore').isPermanent, isPermanentRestore, reason);
  }
  assert.equal(faultOf(new Error('x'.repeat(5_000)), 'restore').message.length, 1_000);
});

test('an attempt is repeated until the last one, unless its fault is permanent', () => {
  const fault = { reason: 'Unavailable', message: 'refused', isPermanent: false };
  for (let attempts = 1; attempts <= attemptsMax; attempts++) {
    assert.equal(afterFailure(fault, attempts).phase, attempts < attemptsMax ? 'Pending' : 'Failed');
  }
  const permanent = afterFailure({ ...fault, isPermanent: true }, 1);
  assert.deepEqual([permanent.phase, permanent.condition.message], ['Failed', 'refused']);
});

test('keys are included by default only in encrypted backups', () => {
  assert.equal(includesKeys({}), false);
  assert.equal(includesKeys({ encryption: { name: 'key' } }), true);
  assert.equal(includesKeys({ encryption: { name: 'key' }, keys: 'Omit' }), false);
  assert.equal(includesKeys({ keys: 'Include' }), true);
});

test('sizes have a unit', () => {
  const shown = [0, 1023, 1024, 1536, 12_900_000, 2 ** 40, 2 ** 52].map(byteText);
  assert.deepEqual(shown, ['0 B', '1023 B', '1.0 KiB', '1.5 KiB', '12.3 MiB', '1.0 TiB', '4096.0 TiB']);
});
