import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assert as assertKept, unreachable } from './assert.ts';
import { abortError, asError, CodedError, hasCode } from './errors.ts';

test('a coded error carries its code, message and cause', () => {
  const cause = new Error('below');
  const error = new CodedError('NoSuchThing', 'it is not there', { cause });
  assert.ok(error instanceof Error);
  assert.deepEqual(
    [error.code, error.name, error.message, error.cause],
    ['NoSuchThing', 'NoSuchThing', 'it is not there', cause],
  );
  assert.match(String(error.stack), /NoSuchThing: it is not there|errors\.test/);
});

test('hasCode looks at the code of errors only', () => {
  assert.ok(hasCode(new CodedError('Gone', ''), 'Gone'));
  assert.ok(hasCode(Object.assign(new Error('from the system'), { code: 'ENOENT' }), 'ENOENT'));
  for (const other of [new CodedError('Other', ''), new Error('Gone'), { code: 'Gone' }, 'Gone', undefined, null]) {
    assert.equal(hasCode(other, 'Gone'), false);
  }
});

test('whatever was thrown becomes an error without losing its text', () => {
  const error = new Error('as it is');
  assert.equal(asError(error), error);
  assert.equal(asError('text').message, 'text');
  assert.equal(asError(undefined).message, 'undefined');
});

test('an abort is an error with code Aborted and the reason as its cause', () => {
  const reason = new Error('enough');
  const error = abortError(AbortSignal.abort(reason));
  assert.deepEqual([error.code, error.cause], ['Aborted', reason]);
});

test('assertions throw AssertionFailed and nothing else', () => {
  assertKept(1, 'fine');
  for (const falsy of [false, 0, '', undefined, null]) {
    assert.throws(() => assertKept(falsy, 'what is wrong'), { code: 'AssertionFailed', message: /what is wrong/ });
  }
  assert.throws(() => unreachable('surprise' as never, 'a kind'), {
    code: 'AssertionFailed',
    message: /a kind: surprise/,
  });
});
