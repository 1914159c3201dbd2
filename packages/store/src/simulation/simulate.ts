/** Runs one seed and evaluates it. */

import { checkCommits } from './checks/check-commits.ts';
import { checkEnd } from './checks/check-end.ts';
import { checkReads } from './checks/check-reads.ts';
import { checkWatches } from './checks/check-watches.ts';
import { GivenUp } from './model/given-up.ts';
import { establishTruth } from './model/truth.ts';
import { noBug } from './planted-bugs.ts';
import type { PlantedBug } from './planted-bugs.ts';
import type { Trace } from './trace.ts';
import type { Violation } from './violation.ts';
import { World } from './world.ts';

export interface SeedReport {
  readonly seed: number;
  readonly violation: Violation | undefined;
  readonly trace: Trace;
  readonly commits: number;
  readonly deliveries: number;
  readonly lives: number;
}

export async function simulate(seed: number, bug: PlantedBug = noBug): Promise<SeedReport> {
  const world = new World(seed, bug);
  const { recorder } = world;
  try {
    await world.run();
  } catch (error) {
    // After a violation any error may follow; without one, the simulation itself is broken.
    if (!recorder.findings.earliest) throw new Error(`the simulation of seed ${seed} failed`, { cause: error });
  }
  return {
    seed,
    violation: judge(world),
    trace: recorder.trace,
    commits: recorder.commits.length,
    deliveries: recorder.watches.reduce((sum, watch) => sum + watch.deliveries.length, 0),
    lives: recorder.lives.length,
  };
}

function judge({ recorder, universes, profile, raw }: World): Violation | undefined {
  const { findings } = recorder;
  // A violation that was found when the answer came is specific; its consequences would look different. A call without an answer is the
  // opposite: mostly a consequence.
  if (findings.earliest && findings.earliest.property !== 'live') return findings.earliest;
  const truth = establishTruth(recorder, universes);
  const givenUp = new GivenUp(recorder, profile.history);
  checkReads(recorder, truth, givenUp);
  checkCommits(recorder, truth);
  checkWatches(recorder, truth, givenUp);
  if (raw) findings.check(() => checkEnd(universes, truth, raw));
  return findings.earliest;
}
