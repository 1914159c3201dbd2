import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chance, pick, seededRandom } from '@hangar/core';
import { FairOrder } from './fair-order.ts';
import type { Ranked } from './fair-order.ts';

interface Named extends Ranked {
  readonly name: string;
}

const one = (name: string, rank = 0, weight = 1): Named => ({ name, rank, position: -1, weight });
const anybody = () => true;

/** Returns the names in the order of service. */
function served(order: FairOrder<Named>): string[] {
  const names: string[] = [];
  for (let next = order.first(anybody); next; next = order.first(anybody)) {
    order.serve(next);
    order.remove(next);
    names.push(next.name);
  }
  return names;
}

describe('the lowest rank', () => {
  test('is first, whatever the order in which they came', () => {
    const order = new FairOrder<Named>();
    for (const rank of [5, 1, 4, 2, 3]) order.add(one(`r${rank}`, rank));
    assert.equal(order.size, 5);
    assert.deepEqual(served(order), ['r1', 'r2', 'r3', 'r4', 'r5']);
    assert.equal(order.size, 0);
    assert.equal(order.first(anybody), undefined);
  });

  test('grows by what was given, divided by the weight', () => {
    const order = new FairOrder<Named>();
    const [light, heavy] = [one('light'), one('heavy', 0, 4)];
    order.add(light);
    order.add(heavy);
    order.charge(light, 2);
    order.charge(heavy, 4);
    assert.deepEqual([light.rank, heavy.rank], [2, 1]);
    assert.deepEqual(served(order), ['heavy', 'light']);
  });

  test('is that of now for who comes back after a pause, in which what it is given counts, too', () => {
    const order = new FairOrder<Named>();
    const [a, b, late] = [one('a', 40), one('b', 43), one('late', 12)];
    order.add(a);
    order.add(b);
    order.serve(a);
    assert.equal(order.now, 40);
    order.add(late);
    assert.equal(late.rank, 40);
    order.charge(a, 5);
    const absent = one('absent', 1);
    order.charge(absent, 2);
    assert.equal(absent.rank, 42);
    order.add(absent);
    assert.deepEqual(served(order), ['late', 'absent', 'b', 'a']);
  });

  test('does not matter to whom weighs more than anything: it is first, and moves nobody', () => {
    const order = new FairOrder<Named>();
    const exempt = one('exempt', 100, Infinity);
    order.add(one('a', 1));
    order.add(exempt);
    order.charge(exempt, 7);
    assert.equal(exempt.rank, 100);
    assert.equal(order.first(anybody), exempt);
    order.serve(exempt);
    assert.equal(order.now, 0);
  });
});

test('what is given back is never a credit', () => {
  const order = new FairOrder<Named>();
  const a = one('a');
  order.add(a);
  order.charge(a, 5);
  order.charge(a, -3);
  assert.equal(a.rank, 2);
  order.charge(a, -9);
  assert.equal(a.rank, order.now);
});

describe('who cannot go on', () => {
  test('is passed over, and keeps its place', () => {
    const order = new FairOrder<Named>();
    for (const rank of [1, 2, 3, 4]) order.add(one(`r${rank}`, rank));
    assert.equal(order.first(({ rank }) => rank > 2)?.name, 'r3');
    assert.equal(
      order.first(() => false),
      undefined,
    );
    assert.equal(order.now, 0);
    assert.deepEqual(served(order), ['r1', 'r2', 'r3', 'r4']);
  });

  test('is asked no more often than it takes: not those behind one that can', () => {
    const order = new FairOrder<Named>();
    for (let rank = 1; rank <= 1_000; rank++) order.add(one(`r${rank}`, rank));
    const asked: string[] = [];
    const first = order.first((each) => (asked.push(each.name), each.rank > 1));
    assert.equal(first?.name, 'r2');
    assert.ok(asked.length <= 3, asked.join());
  });
});

test('adding twice and removing who is not there change nothing', () => {
  const order = new FairOrder<Named>();
  const a = one('a');
  order.remove(a);
  order.add(a);
  order.add(a);
  assert.equal(order.size, 1);
  order.remove(a);
  order.remove(a);
  assert.equal(order.size, 0);
});

test('is what sorting says, whatever is done', () => {
  for (let seed = 1; seed <= 50; seed++) {
    const random = seededRandom(seed);
    const order = new FairOrder<Named>();
    const all = Array.from({ length: 1 + random.below(30) }, (_, n) => one(`${n}`, 0, pick(random, [1, 3, Infinity])));
    for (let step = 0; step < 300; step++) {
      const any = pick(random, all);
      if (chance(random, 0.4)) order.add(any);
      else if (chance(random, 0.3)) order.remove(any);
      else order.charge(any, random.below(10));
      const able = new Set(all.filter(() => chance(random, 0.5)));
      const found = order.first((each) => able.has(each));
      const expected = order.all.filter((each) => able.has(each)).toSorted(before)[0];
      assert.equal(found === undefined, expected === undefined);
      if (found) assert.equal(before(found, expected!), 0, `seed ${seed}, step ${step}`);
      if (found && chance(random, 0.5)) order.serve(found);
    }
  }
});

const before = (a: Named, b: Named): number =>
  Number(b.weight === Infinity) - Number(a.weight === Infinity) || (a.weight === Infinity ? 0 : a.rank - b.rank);
