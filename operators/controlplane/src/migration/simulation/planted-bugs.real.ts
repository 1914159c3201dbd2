/** Proves that the simulation finds bugs: hundreds of worlds for each bug, more than a unit test has time for. */

import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import { plantedBugs } from './planted-bugs.ts';
import { find, simulate } from './simulate.ts';

describe('a planted bug is found within 300 seeds', () => {
  for (const bug of plantedBugs) {
    test(bug.name, async () => {
      const report = await find(bug, 300);
      assert.ok(report?.violation);
      // The same seed without the bug has no violation.
      assert.equal((await simulate(report.seed)).violation, undefined);
    });
  }
});
