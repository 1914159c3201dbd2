import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { Pieces } from './pieces.ts';

test('pieces of any size come out whole and in order', () => {
  const random = seededRandom(7);
  for (let round = 0; round < 50; round++) {
    const pieces = new Pieces();
    const sent = Array.from({ length: round }, (_, at) =>
      Buffer.alloc(Math.floor(random.fraction() ** 4 * 70_000), at + 1),
    );
    for (const piece of sent) pieces.add(piece);
    const all = Buffer.concat(sent);
    assert.equal(pieces.length, all.length);
    assert.ok(all.equals(pieces.takeWhole()));
    assert.equal(pieces.length, 0);
    assert.deepEqual(pieces.take(), []);
  }
});

test('one piece is not copied, small ones are put together', () => {
  const pieces = new Pieces();
  const one = Buffer.from('one');
  pieces.add(one);
  assert.equal(pieces.takeWhole(), one);
  for (let at = 0; at < 1_000_000; at++) pieces.add(one.subarray(0, 1));
  assert.ok(pieces.take().length < 50);
  for (let at = 0; at < 100; at++) pieces.add(at % 2 === 0 ? one : Buffer.alloc(2_000));
  assert.equal(pieces.take().length, 100, 'small ones between large ones have their place');
});
