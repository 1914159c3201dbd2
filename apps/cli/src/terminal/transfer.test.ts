import assert from 'node:assert/strict';
import { test } from 'node:test';
import { transferText } from './transfer.ts';

const mebibyte = 2 ** 20;

test('a transfer of a known size has a bar, percent and a rate', () => {
  const at = (bytes: number, elapsedMs = 2_000) => transferText({ bytes, totalBytes: 30 * mebibyte, elapsedMs });
  assert.equal(at(0, 0), '[····················]   0% 0B of 30MiB');
  assert.equal(at(12 * mebibyte), '[████████············]  40% 12MiB of 30MiB 6MiB/s');
  assert.equal(at(30 * mebibyte), '[████████████████████] 100% 30MiB of 30MiB 15MiB/s');
  // A file that grows while it is read.
  assert.match(at(31 * mebibyte), /^\[█{20}\] 100% /);
});

test('a transfer of an unknown size has bytes and a rate', () => {
  assert.equal(transferText({ bytes: 3 * mebibyte, elapsedMs: 1_000 }), '3MiB 3MiB/s');
  assert.equal(transferText({ bytes: 10, elapsedMs: 0 }), '10B');
});
