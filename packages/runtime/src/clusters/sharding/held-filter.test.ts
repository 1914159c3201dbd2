import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { heldFilter, isInFilter } from './held-filter.ts';
import { hashName } from './rendezvous.ts';

const hashes = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => hashName(`${prefix}-${i}`));

test('what is held is always in it; of what is not, about one in a hundred seems to be, and others with the next salt', () => {
  const held = hashes('held', 500);
  const others = hashes('other', 5_000);
  const mistaken = [1, 2].map((salt) => {
    const filter = heldFilter(held, salt);
    assert.ok(held.every((hash) => isInFilter(filter, hash)));
    return new Set(others.filter((hash) => isInFilter(filter, hash)));
  });
  for (const set of mistaken) assert.ok(set.size < 150, `${set.size} of 5,000`);
  const both = [...mistaken[0]!].filter((hash) => mistaken[1]!.has(hash));
  assert.ok(both.length < 15, `${both.length} with both salts`);
});

test('nothing is in an empty one, nor in what is none', () => {
  const [hash] = hashes('x', 1);
  for (const text of [heldFilter([], 3), '', undefined, 'abc', '1.', '7.!'])
    assert.equal(isInFilter(text, hash!), false);
});

test('it is small: 200 clusters in less than 400 characters', () => {
  assert.ok(heldFilter(hashes('held', 200), 1).length < 400);
});
