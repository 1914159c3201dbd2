/** Implements `npm run sim -- migration`: simulates the protocol of migrations, or finds the planted bugs. */

import { noBug, plantedBugs } from './planted-bugs.ts';
import type { PlantedBug } from './planted-bugs.ts';
import { find, simulate } from './simulate.ts';
import type { SeedReport } from './simulate.ts';

const traceLines = 60;
const huntSeedsMax = 500;
const progressEveryMs = 2_000;

export const seedsDefault = 1_000;
export const bugNames: readonly string[] = plantedBugs.map(({ name }) => name);

export async function runSeeds(options: { from: number; seeds: number; verbose: boolean }): Promise<boolean> {
  const { from, seeds, verbose } = options;
  const startedMs = performance.now();
  let [writes, switches, violated, printedMs] = [0, 0, 0, startedMs];
  for (let done = 0; done < seeds; done++) {
    const report = await simulate(from + done);
    writes += report.acknowledged;
    switches += report.switches;
    if (report.violation) {
      violated++;
      print(report, noBug, verbose);
    }
    const nowMs = performance.now();
    if (nowMs - printedMs < progressEveryMs) continue;
    printedMs = nowMs;
    console.log(`  ${done + 1} of ${seeds} seeds, ${(((done + 1) * 1_000) / (nowMs - startedMs)).toFixed(0)} a second`);
  }
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
  console.log(
    `${seeds} seeds in ${seconds} s, ${switches} switches, ${writes} acknowledged writes, ${violated} violated`,
  );
  return violated === 0;
}

export async function runSeed(options: { seed: number; bug: string | undefined; verbose: boolean }): Promise<boolean> {
  const bug = plantedBugs.find(({ name }) => name === options.bug) ?? noBug;
  const report = await simulate(options.seed, bug);
  print(report, bug, options.verbose);
  return !report.violation;
}

export async function findBugs(names: readonly string[], { verbose }: { verbose: boolean }): Promise<boolean> {
  let all = true;
  for (const bug of plantedBugs.filter(({ name }) => names.includes(name))) {
    const report = await find(bug, huntSeedsMax);
    const found = report ? `seed ${report.seed}, ${report.violation!.property}` : 'NOT FOUND';
    console.log(`${bug.name.padEnd(36)} ${found}`);
    if (report && verbose) print(report, bug, verbose);
    all &&= report !== undefined;
  }
  return all;
}

function print({ seed, violation, trace }: SeedReport, bug: PlantedBug, verbose: boolean): void {
  console.log(trace.until(violation?.line ?? trace.lines.length, verbose ? trace.lines.length : traceLines).join('\n'));
  if (!violation) return;
  const planted = bug === noBug ? '' : ` --bug ${bug.name}`;
  console.log(`seed ${seed} is not ${violation.property}: ${violation.message}`);
  console.log(`again: npm run sim -- migration --seed ${seed}${planted}`);
}
