/**
 * Cleans up after an earlier run of this process. Usually only folders remain: keepers end their programs when their parent dies. If the
 * keepers died as well, the records list the programs.
 */

import { readdirSync } from 'node:fs';
import type { Clock, Logger } from '@hangar/core';
import { endGroup, isOurs } from './end-group.ts';
import { ProgramError } from './errors.ts';
import { foldersOf, removeFolders } from './place.ts';
import { readRecord } from './records.ts';

const endWithinMs = 10_000;

export interface LeftoverOptions {
  /** Parent of the folders of all programs. */
  readonly children: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Resolves with the number of programs found, alive or not. Rejects with `LeftoverAlive` when one cannot be killed: no program may run
 * beside it.
 */
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
