import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Seats } from './seats.ts';
import type { Holder } from './seats.ts';

const holder = (): Holder => ({ seats: 0, mutatingSeats: 0 });

/** Takes as many seats as possible and returns their number. */
function takeAll(seats: Seats, one: Holder, isMutating: boolean): number {
  let count = 0;
  for (; seats.isFreeFor(one, isMutating); count++) seats.take(one, isMutating);
  return count;
}

test('one alone gets half of them, the next half of the rest, and whoever comes then gets one', () => {
  const seats = new Seats(40, 24);
  assert.equal(seats.max, 64);
  const counts = Array.from({ length: 9 }, () => takeAll(seats, holder(), false));
  assert.deepEqual(counts, [32, 16, 8, 4, 2, 1, 1, 1, 1]);
  assert.ok(!seats.areTaken);
});

test('a few that hold all they can do not keep the next one from its first write, nor many from all of theirs', () => {
  const seats = new Seats(8, 8);
  const greedy = Array.from({ length: 8 }, () => takeAll(seats, holder(), true));
  assert.deepEqual(greedy, [4, 2, 1, 1, 1, 1, 1, 1]);
  assert.ok(seats.isFreeFor(holder(), true));
  let more = 0;
  for (; seats.isFreeFor(holder(), true); more++) seats.take(holder(), true);
  assert.equal(greedy.reduce((sum, one) => sum + one) + more, 2 * seats.max);
  assert.ok(seats.areTaken);
});

test('those that change something have no more than theirs, and leave others for those that read', () => {
  const seats = new Seats(8, 8);
  const [a, b] = [holder(), holder()];
  assert.equal(takeAll(seats, a, true), 4);
  assert.equal(takeAll(seats, b, true), 2);
  assert.deepEqual(a, { seats: 4, mutatingSeats: 4 });
  assert.equal(seats.isFreeFor(a, true), false);
  assert.equal(seats.isFreeFor(a, false), true);
});

test('what is left is there for the next, also for those who had to wait because of others', () => {
  const seats = new Seats(4, 4);
  const [a, b] = [holder(), holder()];
  assert.equal(takeAll(seats, a, false), 4);
  assert.equal(takeAll(seats, b, false), 2);
  assert.equal(seats.isFreeFor(b, false), false);
  seats.leave(a, false);
  assert.equal(seats.isFreeFor(b, false), true);
  for (let n = 0; n < 3; n++) seats.leave(a, false);
  for (let n = 0; n < 2; n++) seats.leave(b, false);
  assert.deepEqual([a, b], [holder(), holder()]);
  assert.equal(takeAll(seats, a, true), 2);
  seats.leave(a, true);
  assert.deepEqual(a, { seats: 1, mutatingSeats: 1 });
});
