/**
 * The simulation, seed after seed, then the planted bugs:
 *
 *     node main.ts --seeds 1000         the healthy protocol, then every planted bug
 *     node main.ts --seed 17            one seed with its trace; --bug late-is-over plants one
 *     node main.ts --bugs               only the planted bugs, and at which seed each is found
 */

import { parseArgs } from 'node:util';
import { noBug, plantedBugs } from './planted-bugs.ts';
import { find, simulate } from './simulate.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '0' },
    seed: { type: 'string' },
    bug: { type: 'string' },
    bugs: { type: 'boolean', default: false },
    lines: { type: 'string', default: '60' },
  },
});

const bug = values.bug === undefined ? noBug : plantedBugs.find(({ name }) => name === values.bug);
if (!bug) {
  console.error(`no planted bug is called ${values.bug}; there are: ${plantedBugs.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}

if (values.seed !== undefined) {
  const { trace, violation } = await simulate(Number(values.seed), bug);
  console.log(trace.until(violation?.line ?? trace.lines.length, Number(values.lines)).join('\n'));
  process.exitCode = violation ? 1 : 0;
} else {
  if (!values.bugs) await healthy(Number(values.from), Number(values.seeds));
  for (const planted of values.bug === undefined ? plantedBugs : [bug]) {
    const report = await find(planted, 500);
    const found = report ? `seed ${report.seed}, ${report.violation!.property}` : 'NOT FOUND';
    console.log(`${planted.name.padEnd(32)} ${found}`);
    if (!report) process.exitCode = 1;
  }
}

async function healthy(from: number, seeds: number): Promise<void> {
  const startedMs = performance.now();
  let dispatches = 0;
  const violated: number[] = [];
  for (let seed = from; seed < from + seeds; seed++) {
    const report = await simulate(seed);
    dispatches += report.dispatches;
    if (!report.violation) continue;
    violated.push(seed);
    console.log(`seed ${seed} is not ${report.violation.property}: ${report.violation.message}`);
  }
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
  console.log(`${seeds} seeds in ${seconds} s, ${dispatches} dispatches, ${violated.length} violated`);
  if (violated.length > 0) process.exitCode = 1;
}
