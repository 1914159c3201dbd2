/** More worlds than a unit test has time for, in parts, so that a run shows progress. */

import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import { simulate } from './simulate.ts';

const first = 150;
const part = 300;

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
