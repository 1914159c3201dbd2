import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Status } from '@hangar/api/status';
import { ReceivedStatusError } from './errors.ts';

const received = (fields: object): ReceivedStatusError =>
  new ReceivedStatusError({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', ...fields } as Status);

test('the code of a refusal is its reason, or what its HTTP code says', () => {
  assert.equal(received({ reason: 'AlreadyExists', code: 409 }).code, 'AlreadyExists');
  assert.equal(received({ reason: 'Expired', code: 410 }).code, 'Expired');
  assert.equal(received({ code: 404 }).code, 'NotFound');
  assert.equal(received({ code: 418 }).code, 'InternalError');
  assert.equal(received({}).code, 'InternalError');
});

test('a word of a webhook’s own is no code: it cannot say what only this process can mean', () => {
  for (const reason of ['Terminal', 'ClusterNotFound', 'Fenced', 'Aborted', 'TimedOut', 'toString', '', 7, null]) {
    const error = received({ reason, code: 403, message: 'no' });
    assert.equal(error.code, 'Forbidden', String(reason));
    assert.equal((error.status as { reason?: unknown }).reason, reason, 'for who wants to know');
  }
});
