import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backOffMs } from './back-off.ts';
import { seededRandom } from './random.ts';

test('delays double, up to a bound, and differ', () => {
  const random = seededRandom(1);
  for (const [failures, fullMs] of [
    [1, 100],
    [2, 200],
    [4, 800],
    [5, 1_000],
    [10_000, 1_000],
  ] as const) {
    const delays = Array.from({ length: 100 }, () => backOffMs({ baseMs: 100, maxMs: 1_000 }, failures, random));
    assert.ok(
      delays.every((ms) => ms >= fullMs / 2 && ms <= fullMs),
      `after ${failures}`,
    );
    assert.ok(Math.max(...delays) - Math.min(...delays) > fullMs / 4, 'spread');
  }
});
