/** `npm run sim -- [store|sharding] --seeds 2000`: worlds in virtual time, where everything goes wrong, and bugs planted to be found. */

const simulations: Readonly<Record<string, () => Promise<unknown>>> = {
  store: () => import('../packages/store/src/simulation/main.ts'),
  sharding: () => import('../packages/runtime/src/clusters/sharding/simulation/main.ts'),
};

const [first = ''] = process.argv.slice(2);
const named = simulations[first];
// Each reads its own options.
if (named) process.argv.splice(2, 1);
await(named ?? simulations['store']!)();
