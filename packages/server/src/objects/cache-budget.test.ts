import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { CacheBudget } from './cache-budget.ts';
import type { Held } from './cache-budget.ts';

test('what was not used for the longest time goes first, until the rest fits', () => {
  const budget = new CacheBudget(100);
  const gone: string[] = [];
  const hold = (name: string, bytes: number): Held => {
    const held = budget.hold(() => gone.push(name));
    held.resize(bytes);
    return held;
  };
  const a = hold('a', 40);
  const b = hold('b', 40);
  a.used();
  hold('c', 40);
  assert.deepEqual(gone, ['b']);
  b.resize(1_000);
  b.used();
  b.release();
  assert.deepEqual([budget.bytes, budget.count], [80, 2], 'what is gone counts no more');
  a.used();
  a.resize(101);
  assert.deepEqual(gone, ['b', 'c', 'a'], 'itself, too, when it is larger than all of the budget');
  assert.deepEqual([budget.bytes, budget.count], [0, 0]);
});

test('the sum and the order are those of a simple model, through any sequence of changes', () => {
  const random = seededRandom(7);
  const budget = new CacheBudget(1_000);
  const model: { held: Held; bytes: number }[] = [];
  for (let step = 0; step < 5_000; step++) {
    const one = model[Math.floor(random.fraction() * model.length)];
    const what = random.fraction();
    if (!one || what < 0.3) {
      const entry = { held: budget.hold(() => void model.splice(model.indexOf(entry), 1)), bytes: 0 };
      model.push(entry);
    } else if (what < 0.6) {
      one.bytes = Math.floor(random.fraction() * 300);
      one.held.resize(one.bytes);
    } else if (what < 0.9) {
      one.held.used();
      model.push(...model.splice(model.indexOf(one), 1));
    } else {
      one.held.release();
      model.splice(model.indexOf(one), 1);
    }
    const sum = model.reduce((all, { bytes }) => all + bytes, 0);
    assert.deepEqual([budget.bytes, budget.count], [sum, model.length]);
    assert.ok(budget.bytes <= budget.bytesMax);
  }
});

test('giving one up may give up others', () => {
  const budget = new CacheBudget(10);
  const second = budget.hold(() => assert.fail('it was given back before'));
  const first = budget.hold(() => second.release());
  first.resize(5);
  second.resize(5);
  second.used();
  budget.hold(() => {}).resize(3);
  assert.deepEqual([budget.bytes, budget.count], [3, 1]);
});
