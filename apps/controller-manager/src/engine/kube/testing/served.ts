/** Shorthands of the tests. */

import { kubeconfigFor } from './world.ts';
import type { Served, World } from './world.ts';

export const serverOf = (name: string): string => `https://${name}:6443`;

/** A cluster that is served, and ready. */
export async function readyIn(world: World, name = 'a'): Promise<Served> {
  const served = world.serve(name);
  world.secrets.put(served.secret, kubeconfigFor(serverOf(name)));
  await served.until('Ready');
  return served;
}

/** Stops all, and asserts that nothing is left and nothing happened that must not. */
export async function endOf(world: World, ...all: readonly Served[]): Promise<void> {
  await world.clock.run(Promise.all(all.map(({ serving }) => serving.stop())));
  world.assertSound();
  await world.assertEmpty();
}
