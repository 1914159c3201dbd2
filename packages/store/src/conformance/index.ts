/**
 * The conformance suite: the guarantees of `contract.ts`, as tests that every driver runs. A driver's test file calls `storeConformance`
 * with a harness that opens its stores; the suite does not depend on the driver.
 */

import { describe } from 'node:test';
import { closing } from './closing.ts';
import { compaction } from './compaction.ts';
import { durability } from './durability.ts';
import { scenarioOf } from './harness.ts';
import type { ConformanceHarness } from './harness.ts';
import { leases } from './leases.ts';
import { limits } from './limits.ts';
import { ordering } from './ordering.ts';
import { reads } from './reads.ts';
import { restored } from './restored.ts';
import { transactions } from './transactions.ts';
import { progress } from './watch-progress.ts';
import { watches } from './watches.ts';

export type { ConformanceHarness, OpenedStore } from './harness.ts';

const themes = {
  reads,
  transactions,
  ordering,
  limits,
  watches,
  progress,
  compaction,
  leases,
  restored,
  durability,
  closing,
};

export function storeConformance(name: string, harness: ConformanceHarness): void {
  describe(`${name} conforms to the contract`, () => {
    for (const [theme, register] of Object.entries(themes)) describe(theme, () => register(scenarioOf(harness)));
  });
}
