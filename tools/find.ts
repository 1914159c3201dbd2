/** Tries the steps in order until one has the program. */

import { join } from 'node:path';
import type { Program } from './catalogue.ts';
import { ToolUnavailable } from './errors.ts';
import type { Attempt } from './errors.ts';
import { formatElapsed } from './elapsed.ts';
import { withLock } from './lock.ts';
import type { LockOptions } from './lock.ts';
import { cache } from './steps/cache.ts';
import { lookingSteps, makingSteps } from './steps/index.ts';
import type { Found, Step } from './steps/step.ts';
import type { World } from './world.ts';

/** The program as it is here now, without making anything. */
export async function look(program: Program, world: World): Promise<Found | undefined> {
  const search = new Search(program, world);
  return search.through(lookingSteps);
}

/** Finds or makes the program. Throws `ToolUnavailable`. */
export async function find(program: Program, world: World): Promise<Found> {
  const search = new Search(program, world);
  const here = await search.through(lookingSteps);
  if (here) return here;
  if (search.isOver) throw search.failure();

  try {
    return await make(search, program, world);
  } catch (error) {
    if (error instanceof ToolUnavailable) throw error;
    throw search.failure({ step: 'cache folder', reason: (error as Error).message }, error);
  }
}

async function make(search: Search, program: Program, world: World): Promise<Found> {
  // One lock for a whole set: its programs share most packages, which two builds at once would compile twice.
  const path = join(world.cacheFolder, `${program.go?.set.folder ?? program.name}.lock`);
  const onWait: LockOptions['onWait'] = (holder, waitedMs) => {
    const owner = holder ? `process ${holder.pid}` : 'another process';
    world.log(`${program.name}: waiting for ${owner}, which holds ${path}, for ${formatElapsed(waitedMs)}`);
  };
  return withLock({ path, onWait }, async (waited) => {
    const made = (waited && (await search.through([cache]))) || (await search.through(makingSteps));
    if (made) return made;
    throw search.failure();
  });
}

/** The steps tried so far for one program, and why they did not help. */
class Search {
  readonly #program: Program;
  readonly #world: World;
  readonly #attempts = new Map<string, Attempt>();
  isOver = false;

  constructor(program: Program, world: World) {
    this.#program = program;
    this.#world = world;
  }

  async through(steps: readonly Step[]): Promise<Found | undefined> {
    for (const step of steps) {
      const outcome = await this.#attempt(step);
      if ('path' in outcome) return outcome;
      this.#attempts.set(step.name, { step: step.name, reason: outcome.reason });
      this.isOver = outcome.final === true;
      if (this.isOver) return undefined;
    }
    return undefined;
  }

  failure(last?: Attempt, cause?: unknown): ToolUnavailable {
    const attempts = [...this.#attempts.values(), ...(last ? [last] : [])];
    return new ToolUnavailable(this.#program.name, attempts, cause === undefined ? {} : { cause });
  }

  async #attempt(step: Step) {
    try {
      return await step.attempt(this.#program, this.#world);
    } catch (error) {
      // A full disk or a folder without permission stops one step; the next may not need it.
      return { reason: error instanceof Error ? error.message : String(error) };
    }
  }
}
