/** Inspects processes and waits for them in tests. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { membersOf, statOf } from '@hangar/programs';
import type { ProgramRecord } from '../records.ts';

/** Resolves with the elapsed milliseconds; rejects on timeout. */
export async function until(condition: () => boolean, withinMs: number, what: string): Promise<number> {
  const fromMs = performance.now();
  while (!condition()) {
    if (performance.now() - fromMs > withinMs) throw new Error(`${what}: not within ${withinMs} ms`);
    await delay(5);
  }
  return performance.now() - fromMs;
}

export const isRunning = (pid: number): boolean => statOf(pid) !== undefined;

export const recordBeside = (folder: string): ProgramRecord =>
  JSON.parse(readFileSync(join(folder, '..', 'record.json'), 'utf8')) as ProgramRecord;

/** Returns the process that kills the others when the time is over. */
export function guardOf({ keeper, program }: ProgramRecord): number {
  const others = membersOf(keeper.pid).filter(({ pid }) => pid !== keeper.pid && pid !== program?.pid);
  const [guard] = others.sort((a, b) => a.startTime - b.startTime || a.pid - b.pid);
  return guard!.pid;
}
