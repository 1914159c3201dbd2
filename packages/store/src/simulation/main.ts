/**
 * `npm run sim`: simulates a store under faults, seed after seed, then plants bugs and expects to find them.
 *
 *     npm run sim -- --seeds 2000          the healthy store, then every planted bug
 *     npm run sim -- --seed 17             one seed; with --verbose its whole trace
 *     npm run sim -- --bugs                only the planted bugs
 *     npm run sim -- --bug lost-fsync      one of them; with --seed in that one world
 */

import { parseArgs } from 'node:util';
import { Campaign } from './campaign.ts';
import { noBug, plantedBugs } from './planted-bugs.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '2000' },
    from: { type: 'string', default: '0' },
    seed: { type: 'string' },
    bug: { type: 'string' },
    bugs: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
  },
});

const bug = values.bug === undefined ? undefined : plantedBugs.find(({ name }) => name === values.bug);
if (values.bug !== undefined && !bug) {
  console.error(`no planted bug is called ${values.bug}; there are: ${plantedBugs.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}
const numbers = [values.seeds, values.from, values.seed ?? '0'].map(Number);
if (!numbers.every(Number.isSafeInteger)) {
  console.error('--seeds, --from and --seed take whole numbers');
  process.exit(2);
}
const [seeds, from, seed] = numbers as [number, number, number];

const campaign = new Campaign({ print: (text) => process.stdout.write(text), verbose: values.verbose });
process.on('unhandledRejection', (error) => {
  console.error(`\nseed ${campaign.seed}: a rejection that nobody handled`, error);
  process.exit(1);
});

let ok = true;
if (values.seed !== undefined) ok = await campaign.one(seed, bug ?? noBug);
else if (bug) ok = await campaign.hunt([bug]);
else {
  if (!values.bugs) ok = await campaign.healthy({ from, seeds });
  ok = (await campaign.hunt(plantedBugs)) && ok;
}
process.exitCode = ok ? 0 : 1;
