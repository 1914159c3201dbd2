import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chance, pick, seededRandom, systemRandom } from './random.ts';
import type { Random } from './random.ts';

function sequence(random: Random, length = 50): number[] {
  return Array.from({ length }, () => random.below(2 ** 32));
}

/** Pearson's statistic over equally likely outcomes; for 9 degrees of freedom 27.9 is exceeded once in a thousand times. */
function chiSquare(counts: readonly number[]): number {
  const expected = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
}

describe('seeded randomness', () => {
  test('is the same for the same seed and another for another', () => {
    assert.deepEqual(sequence(seededRandom(42)), sequence(seededRandom(42)));
    const first = new Set(Array.from({ length: 2_000 }, (_, seed) => sequence(seededRandom(seed), 2).join()));
    assert.equal(first.size, 2_000);
    assert.notDeepEqual(sequence(seededRandom(1)), sequence(seededRandom(1 + 2 ** 32)), 'all bits of a seed count');
  });

  test('does not change from one version of the code to the next: seeds are in bug reports', () => {
    assert.deepEqual(sequence(seededRandom(2026), 3), [2_847_583_434, 3_407_092_138, 1_087_311_773]);
  });

  test('is spread evenly over ten values, within one seed and across seeds', () => {
    const within = Array.from({ length: 10 }, () => 0);
    const random = seededRandom(7);
    for (let at = 0; at < 20_000; at++) within[random.below(10)]!++;
    assert.ok(chiSquare(within) < 40, within.join());
    const across = Array.from({ length: 10 }, () => 0);
    for (let seed = 0; seed < 20_000; seed++) across[seededRandom(seed).below(10)]!++;
    assert.ok(chiSquare(across) < 40, across.join());
  });

  test('bytes take every value', () => {
    const bytes = seededRandom(3).bytes(10_000);
    assert.equal(bytes.length, 10_000);
    assert.equal(new Set(bytes).size, 256);
  });

  test('refuses bounds that make no sense', () => {
    for (const bound of [0, -1, 1.5, NaN, 2 ** 32 + 1]) {
      assert.throws(() => seededRandom(1).below(bound), { code: 'AssertionFailed' });
    }
  });
});

for (const [name, random] of Object.entries({ seeded: seededRandom(11), system: systemRandom })) {
  describe(`${name} randomness`, () => {
    test('stays within its bounds and reaches both ends', () => {
      const seen = new Set(Array.from({ length: 1_000 }, () => random.below(4)));
      assert.deepEqual([...seen].sort(), [0, 1, 2, 3]);
      assert.equal(random.below(1), 0);
      for (let at = 0; at < 1_000; at++) {
        const fraction = random.fraction();
        assert.ok(fraction >= 0 && fraction < 1);
      }
      assert.ok(random.below(2 ** 32) < 2 ** 32);
      assert.equal(random.bytes(0).length, 0);
      assert.equal(random.bytes(33).length, 33);
    });

    test('chance and pick do what they are called', () => {
      const hits = Array.from({ length: 10_000 }, () => chance(random, 0.3)).filter(Boolean).length;
      assert.ok(hits > 2_700 && hits < 3_300, `${hits} hits`);
      assert.equal(chance(random, 0), false);
      assert.equal(chance(random, 1), true);
      assert.deepEqual(
        new Set(Array.from({ length: 200 }, () => pick(random, ['a', 'b', 'c']))),
        new Set(['a', 'b', 'c']),
      );
      assert.throws(() => pick(random, []), { code: 'AssertionFailed' });
    });
  });
}
