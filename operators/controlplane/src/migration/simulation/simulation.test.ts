import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { plantedBugs } from './planted-bugs.ts';
import { simulate } from './simulate.ts';

test('thirty worlds of faults violate nothing', async () => {
  for (let seed = 0; seed < 30; seed++) {
    const { violation, trace } = await simulate(seed);
    assert.equal(violation, undefined, `seed ${seed}\n${trace.until(violation?.line ?? 0, 40).join('\n')}`);
  }
});

test('a seed is the same world every time, and another seed another one', async () => {
  const [first, again, other] = [await simulate(3), await simulate(3), await simulate(4)];
  assert.deepEqual(again.trace.lines, first.trace.lines);
  assert.notDeepEqual(other.trace.lines, first.trace.lines);
});

test('a switch without a hold makes both sides writable', async () => {
  const bug = plantedBugs.find(({ name }) => name === 'switch-without-hold')!;
  assert.equal((await simulate(1, bug)).violation?.property, 'exclusive');
});
