/** More worlds than a unit test has time for, in parts, so that a run shows progress. */

import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import { simulate } from './simulate.ts';

const part = 200;

describe('one thousand worlds of faults violate nothing', () => {
  for (let from = 0; from < 1_000; from += part) {
    test(`seeds ${from} to ${from + part - 1}`, async () => {
      let [writes, switches] = [0, 0];
      const lines = new Set<string>();
      for (let seed = from; seed < from + part; seed++) {
        const report = await simulate(seed);
        writes += report.acknowledged;
        switches += report.switches;
        const { violation, trace } = report;
        assert.equal(violation, undefined, `seed ${seed}\n${trace.until(violation?.line ?? 0, 40).join('\n')}`);
        for (const line of trace.lines) lines.add(line.replace(/^.*?ms {2}/, '').replace(/^operator-\d+/, 'operator'));
      }
      console.log(`${part} seeds, ${switches} switches, ${writes} acknowledged writes, none lost`);
      assert.ok(switches > 0);
      for (const happening of [
        'fault: crash',
        'fault: crash-in-switch',
        'fault: overlap',
        'fault: cut',
        'fault: compact',
        'fault: unavailable',
        'operator: Fence',
        'operator: Activate',
        'operator: Release',
        'operator: EndAttempt',
        'operator: RecordAborted',
        'operator: ServeReceived',
        'operator: PassTo',
        'operator: DeleteDedicated',
      ]) {
        assert.ok(lines.has(happening), happening);
      }
    });
  }
});
