import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import { plantedBugs } from './planted-bugs.ts';
import { find, simulate } from './simulate.ts';

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

test('a seed is the same world every time, and another seed another one', async () => {
  const [first, again, other] = [await simulate(3), await simulate(3), await simulate(4)];
  assert.deepEqual(again.trace.lines, first.trace.lines);
  assert.notDeepEqual(other.trace.lines, first.trace.lines);
});

describe('a planted bug is found within 300 seeds', () => {
  for (const bug of plantedBugs) {
    test(bug.name, async () => {
      const report = await find(bug, 300);
      assert.ok(report?.violation);
      // The same seed without the bug is innocent.
      assert.equal((await simulate(report.seed)).violation, undefined);
    });
  }
});
