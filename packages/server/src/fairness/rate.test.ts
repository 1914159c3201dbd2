import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Rate } from './rate.ts';
import { VirtualLoop } from './testing/virtual-loop.ts';

function taken(rate: Rate, perSecond: number, tries: number): number {
  let count = 0;
  for (let n = 0; n < tries; n++) if (rate.take(perSecond)) count++;
  return count;
}

test("a second's worth is there at once, and comes back with time", () => {
  const clock = new VirtualLoop();
  const rate = new Rate(clock);
  assert.equal(taken(rate, 10, 50), 10);
  clock.spend(300);
  assert.equal(taken(rate, 10, 50), 3);
  clock.spend(99);
  assert.equal(taken(rate, 10, 50), 0);
  clock.spend(1);
  assert.equal(taken(rate, 10, 50), 1);
});

test('no more than a second is saved up', () => {
  const clock = new VirtualLoop();
  const rate = new Rate(clock);
  assert.equal(taken(rate, 10, 50), 10);
  clock.spend(3_600_000);
  assert.equal(taken(rate, 10, 50), 10);
});

test('however often it is asked, over a minute there are as many as it says', () => {
  const clock = new VirtualLoop();
  const rate = new Rate(clock);
  let count = 0;
  for (let n = 0; n < 60_000; n++, clock.spend(1)) count += taken(rate, 7, 1);
  assert.ok(Math.abs(count - 7 * 61) <= 1, `${count}`);
});

test('less than one a second is one in as many seconds', () => {
  const clock = new VirtualLoop();
  const rate = new Rate(clock);
  assert.equal(taken(rate, 0.1, 5), 1);
  clock.spend(9_900);
  assert.equal(taken(rate, 0.1, 5), 0);
  clock.spend(100);
  assert.equal(taken(rate, 0.1, 5), 1);
});

test('may change at any time; none at all is none', () => {
  const clock = new VirtualLoop();
  const rate = new Rate(clock);
  assert.equal(taken(rate, 0, 5), 0);
  assert.equal(taken(rate, -1, 5), 0);
  assert.equal(taken(rate, 2, 5), 2);
  clock.spend(1_000);
  assert.equal(taken(rate, 100, 500), 100);
  clock.spend(1_000);
  assert.equal(taken(rate, 3, 50), 3);
});
