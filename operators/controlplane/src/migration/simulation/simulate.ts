/** Runs one seed. */

import { noBug } from './planted-bugs.ts';
import type { PlantedBug } from './planted-bugs.ts';
import type { Trace, Violation } from './trace.ts';
import { World } from './world.ts';

export interface SeedReport {
  readonly seed: number;
  readonly violation: Violation | undefined;
  readonly trace: Trace;
  readonly acknowledged: number;
  /** Migrations that switched. */
  readonly switches: number;
}

export async function simulate(seed: number, bug: PlantedBug = noBug): Promise<SeedReport> {
  const world = new World(seed, bug);
  await world.run();
  const { trace, clients, switches } = world;
  return { seed, violation: trace.violation, trace, acknowledged: clients.acknowledged, switches };
}

/** Returns a seed that finds the bug, starting with the known one; undefined when none does within the limit. */
export async function find(bug: PlantedBug, seedsMax: number): Promise<SeedReport | undefined> {
  const near = bug.near === undefined ? undefined : await simulate(bug.near, bug);
  if (near?.violation) return near;
  for (let seed = 0; seed < seedsMax; seed++) {
    const report = await simulate(seed, bug);
    if (report.violation) return report;
  }
  return undefined;
}
