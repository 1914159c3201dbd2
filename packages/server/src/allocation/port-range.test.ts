import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { defaultPortRange, PortRange } from './port-range.ts';

test('the bitmap is one big-endian number, its lowest bit the first port', () => {
  const range = new PortRange(defaultPortRange);
  assert.deepEqual([...range.data], []);
  range.take(30_001);
  range.take(30_002);
  assert.deepEqual([...range.data], [0x06]);
  range.take(30_008);
  assert.deepEqual([...range.data], [0x01, 0x06]);
});

test('what was written is read again', () => {
  const range = new PortRange(defaultPortRange);
  for (const port of [30_000, 31_234, 32_767]) range.take(port);
  const again = new PortRange(range.text, range.data);
  assert.deepEqual(
    [30_000, 30_001, 31_234, 32_767].map((port) => again.has(port)),
    [true, false, true, true],
  );
  again.release(32_767);
  assert.equal(again.has(32_767), false);
});

test('a port is given once, and only from the range', () => {
  const range = new PortRange(defaultPortRange);
  assert.equal(range.take(30_080), undefined);
  assert.equal(range.take(30_080), 'taken');
  assert.equal(range.take(29_999), 'outside');
  assert.equal(range.take(32_768), 'outside');
});

test('any port is one above the static band, until none is left there', () => {
  const range = new PortRange('30000-30099');
  const random = seededRandom(3);
  const taken = Array.from({ length: 100 }, () => range.takeAny(random)!);
  assert.equal(new Set(taken).size, 100);
  assert.ok(taken.slice(0, 84).every((port) => port >= 30_016));
  assert.equal(range.takeAny(random), undefined);
});
