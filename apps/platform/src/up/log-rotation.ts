/**
 * Limits the size of the log file of a server in the background. The file is the standard output of the process, opened for appending, so it
 * is copied and truncated instead of renamed. Both happen in one synchronous step: no line is lost.
 */

import { copyFileSync, renameSync, statSync, truncateSync } from 'node:fs';
import { systemClock } from '@hangar/core';

const bytesMax = 10 * 1024 * 1024;
/** `hangar.log.1` is the newest. */
const oldFilesMax = 3;
const everyMs = 30_000;

/** Rotates the file now and then until it is closed. */
export function rotateLog(path: string): { close(): void } {
  let timer = systemClock.after(everyMs, look);
  function look(): void {
    rotateOnce(path, bytesMax);
    timer = systemClock.after(everyMs, look);
  }
  return { close: () => timer.cancel() };
}

/** A file that cannot be rotated (the disk is full, it was removed) stays as it is. */
export function rotateOnce(path: string, limit: number): void {
  try {
    if (statSync(path).size <= limit) return;
    for (let index = oldFilesMax - 1; index >= 1; index--) {
      if (statSync(`${path}.${index}`, { throwIfNoEntry: false }))
        renameSync(`${path}.${index}`, `${path}.${index + 1}`);
    }
    copyFileSync(path, `${path}.1`);
    truncateSync(path);
  } catch {
    // The next attempt may succeed.
  }
}
