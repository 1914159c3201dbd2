/** Implements `npm run sim -- store`: simulates the healthy store, or finds the planted bugs. */

import { Campaign } from './campaign.ts';
import { noBug, plantedBugs } from './planted-bugs.ts';

export const seedsDefault = 2_000;
export const bugNames: readonly string[] = plantedBugs.map(({ name }) => name);

export function runSeeds({ verbose, ...seeds }: { from: number; seeds: number; verbose: boolean }): Promise<boolean> {
  return campaign(verbose).healthy(seeds);
}

export function runSeed(options: { seed: number; bug: string | undefined; verbose: boolean }): Promise<boolean> {
  const bug = plantedBugs.find(({ name }) => name === options.bug) ?? noBug;
  return campaign(options.verbose).one(options.seed, bug);
}

export function findBugs(names: readonly string[], { verbose }: { verbose: boolean }): Promise<boolean> {
  return campaign(verbose).hunt(plantedBugs.filter(({ name }) => names.includes(name)));
}

function campaign(verbose: boolean): Campaign {
  const made = new Campaign({ print: (text) => process.stdout.write(text), verbose });
  process.on('unhandledRejection', (error) => {
    console.error(`\nseed ${made.seed}: unhandled rejection`, error);
    process.exit(1);
  });
  return made;
}
