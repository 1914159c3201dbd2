/** Finds a program that an earlier run made. Only the pinned version: after a change of the pin, the old program does not count. */

import { cachedPath } from '../cache.ts';
import { isExecutable } from '../executable.ts';
import { pinnedVersion } from '../pin.ts';
import type { Step } from './step.ts';

export const cache: Step = {
  name: 'cache',
  async attempt(program, world) {
    const version = await pinnedVersion(program, world.setsFolder);
    if (version === undefined) return { reason: 'holds only pinned programs' };
    const path = cachedPath(program, version, world);
    if (!(await isExecutable(path))) return { reason: `nothing at ${path}` };
    return { path, version, from: 'cache' };
  },
};
