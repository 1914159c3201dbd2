/** Checks regularly that the server still has its data directory and, if requested, its parent process. */

import { stat } from 'node:fs/promises';
import { systemClock } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { areRunning } from './launchers.ts';

export interface SurroundingsOptions {
  /** Undefined: it is not checked. */
  readonly dataDirectory: string | undefined;
  /** Pids that must run; empty: none. */
  readonly launchers: readonly number[];
  /** Called once, with the reason. The checks stop then. */
  readonly onLost: (reason: string) => void;
  readonly clock?: Clock;
}

const periodMs = 1_000;

export async function watchSurroundings(options: SurroundingsOptions): Promise<{ close(): void }> {
  const { dataDirectory, launchers, onLost, clock = systemClock } = options;
  const inode = dataDirectory === undefined ? undefined : (await stat(dataDirectory)).ino;
  let isClosed = false;
  const look = async (): Promise<void> => {
    const reason = await lost(dataDirectory, inode, launchers);
    if (isClosed) return;
    if (reason === undefined) timer = clock.after(periodMs, () => void look());
    else onLost(reason);
  };
  let timer = clock.after(periodMs, () => void look());
  return {
    close() {
      isClosed = true;
      timer.cancel();
    },
  };
}

async function lost(
  dataDirectory: string | undefined,
  inode: number | undefined,
  launchers: readonly number[],
): Promise<string | undefined> {
  if (launchers.length > 0 && !areRunning(launchers)) return 'the process that started Hangar has exited';
  if (dataDirectory === undefined) return undefined;
  try {
    // Another directory of the same name has none of the files that are open here.
    if ((await stat(dataDirectory)).ino === inode) return undefined;
  } catch (error) {
    // A disk that does not answer may answer later.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return undefined;
  }
  return `the data directory ${dataDirectory} was removed`;
}
