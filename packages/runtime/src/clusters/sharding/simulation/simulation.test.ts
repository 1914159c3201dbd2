import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { simulate } from './simulate.ts';

test('one hundred and fifty worlds of faults violate nothing, and everything that can happen does', async () => {
  const diary: string[] = [];
  for (let seed = 0; seed < 150; seed++) {
    const { violation, trace } = await simulate(seed);
    assert.equal(violation, undefined, `seed ${seed}\n${trace.until(violation?.line ?? 0, 40).join('\n')}`);
    diary.push(...trace.lines);
  }
  for (const happening of [
    ': stop ',
    ': sleep ',
    ': crash ',
    ': exit ',
    ': cut ',
    ': cut-all ',
    ': slow ',
    ': late-answers ',
    ': double ',
    ': break-watches ',
    ': set-clock ',
    ': delete-lease ',
    ': delete-ring ',
    'declared dead',
    'over: taken',
    'has left',
    'could not renew in time',
  ]) {
    assert.ok(
      diary.some((line) => line.includes(happening)),
      happening,
    );
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
