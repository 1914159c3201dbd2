import assert from 'node:assert/strict';
import { test } from 'node:test';
import { virtualClock } from '@hangar/testkit';
import { OutputBudget } from './output-budget.ts';
import type { OutputShare } from './output-budget.ts';

function budget(each: number, all: number) {
  const clock = virtualClock();
  const subject = new OutputBudget(clock, { each, all });
  const resumed: string[] = [];
  const spendAll = (share: OutputShare, cost = 1): number => {
    for (let spent = 0; ; spent += cost) {
      if (share.isSpent()) return spent;
      share.spend(cost);
    }
  };
  return { clock, resumed, spendAll, share: (name: string) => subject.share(() => resumed.push(name)) };
}

test('each has its part of a period, and again in the next one', async () => {
  const { clock, resumed, spendAll, share } = budget(10, 100);
  const one = share('one');
  assert.equal(spendAll(one), 10);
  await clock.advance(249);
  assert.deepEqual(resumed, []);
  await clock.advance(1);
  assert.deepEqual(resumed, ['one']);
  assert.equal(spendAll(one), 10);
});

test('all together have no more than theirs, and those that wait get equal parts of the next first', async () => {
  const { clock, resumed, spendAll, share } = budget(10, 12);
  const [one, two, three] = [share('one'), share('two'), share('three')];
  assert.equal(spendAll(one), 10);
  assert.equal(spendAll(two), 2);
  assert.equal(spendAll(three), 0);
  await clock.advance(250);
  assert.deepEqual(resumed, ['one', 'two', 'three']);
  assert.deepEqual(
    [one, two, three].map((share) => spendAll(share)),
    [4, 4, 4],
  );
});

test('who prints a little is not kept from it by one that prints a lot', () => {
  const { spendAll, share } = budget(10, 100);
  spendAll(share('loud'));
  assert.equal(share('quiet').isSpent(), false);
});

test('what was too much is paid before more is printed', async () => {
  const { clock, resumed, spendAll, share } = budget(10, 100);
  const one = share('one');
  assert.equal(spendAll(one, 25), 25);
  await clock.advance(250);
  assert.deepEqual(resumed, []);
  await clock.advance(250);
  assert.deepEqual(resumed, ['one']);
  assert.equal(spendAll(one), 5);
});

test('who is closed is not told, and no timer is left', async () => {
  const { clock, resumed, spendAll, share } = budget(10, 100);
  const one = share('one');
  spendAll(one);
  one.close();
  await clock.advance(1_000);
  assert.deepEqual(resumed, []);
});
