import assert from 'node:assert/strict';
import { test } from 'node:test';
import { humanDuration, since } from './age.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

const durations: readonly (readonly [ms: number, text: string])[] = [
  [-1000 * year, '<invalid>'],
  [-2 * second, '<invalid>'],
  [-1999, '0s'],
  [-1, '0s'],
  [0, '0s'],
  [999, '0s'],
  [59 * second, '59s'],
  [119_999, '119s'],
  [2 * minute, '2m'],
  [2 * minute + second, '2m1s'],
  [9 * minute + 59 * second, '9m59s'],
  [10 * minute + 59 * second, '10m'],
  [179 * minute, '179m'],
  [3 * hour, '3h'],
  [3 * hour + 5 * minute, '3h5m'],
  [8 * hour + 5 * minute, '8h'],
  [47 * hour, '47h'],
  [48 * hour, '2d'],
  [51 * hour, '2d3h'],
  [8 * day, '8d'],
  [729 * day, '729d'],
  [2 * year, '2y'],
  [2 * year + day, '2y1d'],
  [8 * year + 5 * day, '8y'],
  [1000 * year, '292y'],
];

for (const [ms, text] of durations) {
  test(`${ms} ms are ${text}`, () => assert.equal(humanDuration(ms), text));
}

test('what has no time, or the zero time of Go, is of unknown age', () => {
  for (const none of [undefined, null, '0001-01-01T00:00:00Z']) assert.equal(since(none, 0), '<unknown>');
});

test('ages are counted from times of any precision and offset', () => {
  const now = Date.parse('2026-01-01T00:01:00Z');
  assert.equal(since('2026-01-01T00:00:00Z', now), '60s');
  assert.equal(since('2026-01-01T00:00:00.600000Z', now), '59s');
  assert.equal(since('2026-01-01T01:00:00+01:00', now), '60s');
});
