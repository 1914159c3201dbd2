import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { simulate } from './simulate.ts';

test('twenty worlds of faults violate nothing', async () => {
  for (let seed = 0; seed < 20; seed++) {
    const { violation, trace } = await simulate(seed);
    assert.equal(violation, undefined, `seed ${seed}\n${trace.until(violation?.line ?? 0, 40).join('\n')}`);
  }
});

test('a seed that once violated a property violates nothing', async () => {
  for (const seed of [598783690002, 422548402339, 422548410800]) {
    const { violation, trace } = await simulate(seed);
    assert.equal(violation, undefined, `seed ${seed}\n${trace.until(violation?.line ?? 0, 40).join('\n')}`);
  }
});

test('a seed is the same world every time, and another seed another one', async () => {
  const [first, again, other] = [await simulate(3), await simulate(3), await simulate(4)];
  assert.deepEqual(again.trace.lines, first.trace.lines);
  assert.notDeepEqual(other.trace.lines, first.trace.lines);
});
