/** More worlds than a unit test has time for. */

import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { simulate } from './simulate.ts';

test('three thousand worlds of faults violate nothing', async () => {
  let dispatches = 0;
  for (let seed = 150; seed < 3_150; seed++) {
    const report = await simulate(seed);
    dispatches += report.dispatches;
    const { violation, trace } = report;
    assert.equal(violation, undefined, `seed ${seed}\n${trace.until(violation?.line ?? 0, 40).join('\n')}`);
  }
  console.log(`3,000 seeds, ${dispatches} reconciles, none by two owners`);
});
