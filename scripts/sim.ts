/**
 * `npm run sim -- [store|sharding|migration] --seeds 2000`: simulates the store, processes that share clusters, or migrations of control
 * planes, under faults in virtual time,
 * seed after seed; then plants bugs and expects to find them.
 *
 *     npm run sim -- store --seeds 2000          seeds from 0 on, then every planted bug
 *     npm run sim -- store --fresh 3000          seeds from a random one on, which is printed first
 *     npm run sim -- store --seed 17             one seed; with --verbose its whole trace
 *     npm run sim -- store --bugs                only the planted bugs
 *     npm run sim -- store --bug lost-fsync      one of them; with --seed in that one world
 */

import { randomInt } from 'node:crypto';
import { readCommandLine, runCommand, Usage, wholeNumber } from './command-line.ts';

interface Simulation {
  readonly seedsDefault: number;
  readonly bugNames: readonly string[];
  /** True when no seed violates anything. */
  runSeeds(options: { from: number; seeds: number; verbose: boolean }): Promise<boolean>;
  /** True when the seed violates nothing. */
  runSeed(options: { seed: number; bug: string | undefined; verbose: boolean }): Promise<boolean>;
  /** True when every one of the bugs is found. */
  findBugs(names: readonly string[], options: { verbose: boolean }): Promise<boolean>;
}

const simulations: Readonly<Record<string, () => Promise<Simulation>>> = {
  store: () => import('../packages/store/src/simulation/main.ts'),
  sharding: () => import('../packages/runtime/src/clusters/sharding/simulation/main.ts'),
  migration: () => import('../operators/controlplane/src/migration/simulation/main.ts'),
};

/** Seeds are multiplied by small numbers, and must stay exact. */
const freshSeedMax = 2 ** 40;

await runCommand(async () => {
  const { values, names } = readCommandLine(process.argv.slice(2), {
    usage: 'npm run sim --',
    namesHelp: '[store|sharding|migration]',
    names: Object.keys(simulations),
    options: {
      seeds: { value: 'N', help: 'simulate N seeds, then find the planted bugs' },
      from: { value: 'SEED', help: 'the first of the seeds; the planted bugs are left out' },
      fresh: { value: 'N', help: 'simulate N seeds from a random one on, which is printed first' },
      seed: { value: 'SEED', help: 'simulate one seed' },
      bug: { value: 'NAME', help: 'plant this bug: find it, or simulate --seed with it' },
      bugs: { help: 'find the planted bugs, and nothing else' },
      verbose: { help: 'print whole traces' },
    },
  });
  if (names.length > 1) throw new Usage('name one simulation: store, sharding or migration', 2);
  const name = names[0] ?? 'store';
  const simulation = await simulations[name]!();
  const { bug, verbose = false } = values;
  if (bug !== undefined && !simulation.bugNames.includes(bug)) {
    throw new Usage(`no planted bug is called "${bug}"; known bugs: ${simulation.bugNames.join(', ')}`, 2);
  }
  const seed = wholeNumber('seed', values.seed, undefined);
  const fresh = wholeNumber('fresh', values.fresh, undefined);
  const from = wholeNumber('from', values.from, undefined);
  const seeds = wholeNumber('seeds', values.seeds, simulation.seedsDefault);
  if (seed !== undefined) return simulation.runSeed({ seed, bug, verbose });
  if (bug !== undefined) return simulation.findBugs([bug], { verbose });
  if (values.bugs) return simulation.findBugs(simulation.bugNames, { verbose });
  if (fresh !== undefined) {
    const first = from ?? randomInt(freshSeedMax);
    console.log(`fresh seeds; repeat with: npm run sim -- ${name} --from ${first} --seeds ${fresh}`);
    return simulation.runSeeds({ from: first, seeds: fresh, verbose });
  }
  const healthy = await simulation.runSeeds({ from: from ?? 0, seeds, verbose });
  if (from !== undefined) return healthy;
  return (await simulation.findBugs(simulation.bugNames, { verbose })) && healthy;
});
