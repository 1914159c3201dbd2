import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { CacheBudget } from './cache-budget.ts';
import { deepFrozen, digestOf, SharedByContent } from './shared-by-content.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const garbageCollected = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    collect();
  }
};

interface Thing {
  readonly text: string;
}

test('the same content is made once, and other content is other', () => {
  const shared = new SharedByContent<Thing>();
  let made = 0;
  const get = (text: string): Thing => shared.get(digestOf(text), () => ({ text, at: made++ }));
  assert.equal(get('a'), get('a'));
  assert.notEqual(get('a'), get('b'));
  assert.equal(made, 2);
});

test('what could not be made is made by the next who asks', () => {
  const shared = new SharedByContent<Thing>();
  assert.throws(() =>
    shared.get('a', () => {
      throw new Error('no');
    }),
  );
  assert.equal(shared.get('a', () => ({ text: 'a' })).text, 'a');
});

test('it goes when nobody uses it, unless a budget keeps it; and with the budget it goes, too', async () => {
  const shared = new SharedByContent<Thing>();
  const make = (text: string) => (): Thing => ({ text });
  let budget: CacheBudget | undefined = new CacheBudget(100);
  const keeping = (bytes: number) => ({ budget: budget!, bytesOf: () => bytes });
  shared.get('unused', make('unused'));
  shared.get('kept', make('kept'), keeping(60));
  const used = shared.get('used', make('used'));
  await garbageCollected();
  assert.equal(shared.size, 2);
  assert.deepEqual([budget.bytes, budget.count], [60, 1]);
  // There is no room for both.
  shared.get('next', make('next'), keeping(60));
  await garbageCollected();
  assert.equal(shared.size, 2);
  assert.equal(shared.get('used', make('again')), used);
  budget = undefined;
  await garbageCollected();
  assert.equal(shared.size, 1, 'only what is used is left');
});

test('what is used stays in the budget, and moves to another one with whoever uses it', () => {
  const shared = new SharedByContent<Thing>();
  const [first, second] = [new CacheBudget(100), new CacheBudget(100)];
  const use = (text: string, budget: CacheBudget): Thing =>
    shared.get(text, () => ({ text }), { budget, bytesOf: () => 40 });
  const a = use('a', first);
  use('b', first);
  use('a', first);
  use('c', first);
  assert.equal(use('a', first), a);
  assert.deepEqual([first.bytes, first.count], [80, 2]);
  use('a', second);
  assert.deepEqual([first.count, second.count], [1, 1]);
});

test('frozen is everything in it', () => {
  const value = deepFrozen({ list: [{ a: 1 }], nothing: null, text: 'x' });
  assert.throws(() => ((value.list[0] as { a: number }).a = 2), TypeError);
  assert.throws(() => value.list.push({ a: 3 }), TypeError);
});
