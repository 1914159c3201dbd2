import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Revision, Write } from './contract.ts';
import {
  checkLimit,
  checkRevision,
  checkTransaction,
  checkTtl,
  transactionWritesMax,
  valueBytesMax,
} from './limits.ts';

function put(key: string, bytes = 0): Write {
  return { type: 'put', key, value: new Uint8Array(bytes) };
}

function codeOf(check: () => void): string {
  try {
    check();
    return 'fine';
  } catch (error) {
    return (error as { code: string }).code;
  }
}

const transaction = (...writes: Write[]) => codeOf(() => checkTransaction(writes));

describe('a transaction', () => {
  test('has from one to 128 writes', () => {
    assert.equal(transaction(), 'InvalidRequest');
    const most = Array.from({ length: transactionWritesMax }, (_, at) => put(`k${at}`));
    assert.equal(transaction(...most), 'fine');
    assert.equal(transaction(...most, put('one more')), 'InvalidRequest');
  });

  test('has up to 128 conditions, which are no writes of their own', () => {
    const check = (at: number): Write => ({ type: 'check', key: `c${at}`, expected: 0 as Revision });
    const puts = Array.from({ length: transactionWritesMax }, (_, at) => put(`k${at}`));
    const checks = Array.from({ length: transactionWritesMax }, (_, at) => check(at));
    assert.equal(transaction(...puts, ...checks), 'fine');
    assert.equal(transaction(...checks, check(transactionWritesMax)), 'InvalidRequest');
    assert.equal(transaction(...checks, { ...put('k'), expected: 0 as Revision } as Write), 'InvalidRequest');
  });

  test('holds values up to the limit, its keys included', () => {
    assert.equal(transaction(put('k', valueBytesMax - 1)), 'fine');
    assert.equal(transaction(put('k', valueBytesMax)), 'ValueTooLarge');
    assert.equal(transaction(put('k', valueBytesMax + 1)), 'ValueTooLarge');
    assert.equal(
      transaction(put('k', valueBytesMax - 1), { type: 'check', key: 'c', expected: 0 as Revision }),
      'fine',
      'a condition takes no space',
    );
    assert.equal(transaction(put('a', valueBytesMax / 2 - 1), put('b', valueBytesMax / 2 - 1)), 'fine');
    assert.equal(transaction(put('a', valueBytesMax / 2), put('b', valueBytesMax / 2)), 'ValueTooLarge');
  });

  test('counts keys in bytes, not in characters', () => {
    const key = '中'.repeat(600);
    assert.equal(transaction(put(key, valueBytesMax - 1_800)), 'fine');
    assert.equal(transaction(put(key, valueBytesMax - 1_799)), 'ValueTooLarge');
  });

  test('names each key once', () => {
    assert.equal(transaction(put('a'), put('b')), 'fine');
    assert.equal(transaction(put('a'), put('a')), 'InvalidRequest');
    assert.equal(transaction(put('a'), { type: 'delete', key: 'a' }), 'InvalidRequest');
    assert.equal(transaction(put('a'), { type: 'check', key: 'a', expected: 0 as Revision }), 'InvalidRequest');
  });

  test('changes nothing that it also deletes by range', () => {
    const range: Write = { type: 'deleteRange', range: { start: 'b', end: 'd' } };
    assert.equal(transaction(range, put('a'), put('d')), 'fine');
    assert.equal(transaction(put('b'), range), 'InvalidRequest');
    assert.equal(transaction(range, { type: 'delete', key: 'c' }), 'InvalidRequest');
    assert.equal(transaction(range, { type: 'check', key: 'c', expected: 0 as Revision }), 'fine');
    assert.equal(transaction(range, { type: 'deleteRange', range: { start: 'd' } }), 'fine');
    assert.equal(transaction(range, { type: 'deleteRange', range: { start: '' } }), 'InvalidRequest');
    assert.equal(transaction(range, { ...range }), 'InvalidRequest');
  });

  test('is refused for the first thing that is wrong with it', () => {
    assert.equal(transaction(put('')), 'InvalidKey');
    assert.equal(transaction({ type: 'deleteRange', range: { start: 'a', end: '\ud800' } }), 'InvalidKey');
    assert.equal(transaction({ type: 'put', key: 'a', value: 'text' as unknown as Uint8Array }), 'InvalidRequest');
    for (const expected of [-1, 0.5, NaN, 2 ** 53] as Revision[]) {
      assert.equal(transaction({ type: 'delete', key: 'a', expected }), 'InvalidRequest');
    }
  });

  test('takes a Buffer for bytes', () => {
    assert.equal(transaction({ type: 'put', key: 'a', value: Buffer.from('text') }), 'fine');
  });
});

test('revisions and limits are whole numbers from zero', () => {
  for (const check of [checkRevision, checkLimit]) {
    for (const good of [0, 1, 2 ** 53 - 1])
      assert.equal(
        codeOf(() => check(good)),
        'fine',
      );
    for (const bad of [-1, 0.1, NaN, Infinity, 2 ** 53, '1' as unknown as number]) {
      assert.equal(
        codeOf(() => check(bad)),
        'InvalidRequest',
        String(bad),
      );
    }
  }
});

test('a lease lasts from a second to about 285 years', () => {
  for (const good of [1_000, 1_500.5, 9e12])
    assert.equal(
      codeOf(() => checkTtl(good)),
      'fine',
    );
  for (const bad of [0, 999, -5, NaN, Infinity, 9e12 + 1])
    assert.equal(
      codeOf(() => checkTtl(bad)),
      'InvalidRequest',
    );
});
