/** State that every client of a simulated store has. */

import { chance, pick } from '@hangar/core';
import type { Random } from '@hangar/core';
import type { KeyRange } from '../../contract.ts';
import { prefixRange, successor } from '../../keys.ts';
import { compareKeys } from '../../keys.ts';
import type { Profile } from '../profile.ts';
import type { Session } from '../session.ts';
import type { Universe } from '../universe.ts';

export interface Client {
  readonly name: string;
  readonly session: Session;
  readonly random: Random;
  readonly profile: Profile;
}

/** Runs one step after the other, with pauses, until the session ends. */
export async function live(client: Client, step: () => Promise<unknown>): Promise<void> {
  const { session, random, profile } = client;
  while (!session.stopping) {
    // Bursts make groups: several clients without pauses meet in one commit.
    if (!chance(random, 0.3)) await session.sleep(random.fraction() * profile.thinkMaxMs);
    else await session.sleep(0);
    if (!session.stopping) await step();
  }
}

export function somePrefix(random: Random, universe: Universe): string {
  const { widestPrefix, root } = universe;
  return pick(random, [widestPrefix, root, `${root}a/`, `${root}a/1`, `${root}b/`, pick(random, universe.keys)]);
}

export function someRange(random: Random, universe: Universe): KeyRange {
  switch (random.below(4)) {
    case 0:
      return universe.all;
    case 1: {
      const key = pick(random, universe.keys);
      return { start: key, end: successor(key) };
    }
    case 2: {
      const [start, end] = [pick(random, universe.keys), pick(random, universe.keys)].sort(compareKeys) as [
        string,
        string,
      ];
      return { start, end: start === end ? successor(end) : end };
    }
    default:
      return prefixRange(universe.root + pick(random, ['a/', 'b/', 'a/b/']));
  }
}
