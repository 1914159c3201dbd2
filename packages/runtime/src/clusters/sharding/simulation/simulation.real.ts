/** More worlds than a unit test has time for, in parts, so that a run shows progress. */

import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import { simulate } from './simulate.ts';

const first = 150;
const part = 300;

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

describe('three thousand worlds of faults violate nothing', () => {
  for (let from = first; from < first + 3_000; from += part) {
    test(`seeds ${from} to ${from + part - 1}`, async () => {
      let dispatches = 0;
      for (let seed = from; seed < from + part; seed++) {
        const report = await simulate(seed);
        dispatches += report.dispatches;
        const { violation, trace } = report;
        assert.equal(violation, undefined, `seed ${seed}\n${trace.until(violation?.line ?? 0, 40).join('\n')}`);
      }
      console.log(`${part} seeds, ${dispatches} reconciles, none by two owners`);
    });
  }
});
