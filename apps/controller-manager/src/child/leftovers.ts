/**
 * What a former life of this process left behind. Normally folders alone: keepers end their programs when their parent dies. If keepers
 * died with it, the records say what there was.
 */

import { readdirSync } from 'node:fs';
import type { Clock, Logger } from '@hangar/core';
import { endGroup, isOurs } from './end-group.ts';
import { ProgramError } from './errors.ts';
import { foldersOf, removeFolders } from './place.ts';
import { readRecord } from './records.ts';

const endWithinMs = 10_000;

export interface LeftoverOptions {
  /** The folder of all programs' folders. */
  readonly children: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Says how many programs there were, alive or not. Rejects with `LeftoverAlive` when one cannot be ended: nothing may run beside it. */
export async function endLeftovers({ children, clock, log }: LeftoverOptions): Promise<number> {
  const keys = readdirSync(children);
  await Promise.all(
    keys.map(async (key) => {
      const { root, home } = foldersOf(children, key);
      const record = readRecord(root);
      if (record && isOurs(record, home)) {
        const { cluster, service, keeper } = record;
        log.warn('stopping a child process of a previous run', { cluster, service, group: keeper.pid });
        if (!(await endGroup({ record, home, clock, withinMs: endWithinMs }))) {
          throw new ProgramError(
            'LeftoverAlive',
            `the process group ${keeper.pid} of ${cluster}/${service} from a previous run does not exit`,
          );
        }
      }
      await removeFolders(root);
    }),
  );
  return keys.length;
}
