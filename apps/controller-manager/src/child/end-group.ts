/**
 * Ends a process group of ours whose keeper may be dead. A group is ours if one of its members is proven to be, by its start time or by its
 * working directory: pids are reused, and processes of others must not be killed.
 */

import { readlinkSync } from 'node:fs';
import { sleep } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { bootId, membersOf, signalGroup } from '@hangar/programs';
import type { ProgramRecord } from './records.ts';

const pollMs = 10;

export interface EndGroupOptions {
  readonly record: ProgramRecord;
  /** The folder of the program. */
  readonly home: string;
  readonly clock: Clock;
  readonly withinMs: number;
}

/** Resolves with false if a member is still alive after that time. */
export async function endGroup({ record, home, clock, withinMs }: EndGroupOptions): Promise<boolean> {
  const untilMs = clock.monotonicMs() + withinMs;
  while (isOurs(record, home)) {
    if (clock.monotonicMs() > untilMs) return false;
    signalGroup(record.keeper.pid, 'SIGKILL');
    await sleep(clock, pollMs);
  }
  return true;
}

export function isOurs({ bootId: recordedBoot, keeper, program }: ProgramRecord, home: string): boolean {
  if (recordedBoot !== bootId() || !signalGroup(keeper.pid, 0)) return false;
  return membersOf(keeper.pid).some(
    ({ pid, startTime }) =>
      (pid === keeper.pid && startTime === keeper.startTime) ||
      (pid === program?.pid && startTime === program.startTime) ||
      standsIn(pid, home),
  );
}

function standsIn(pid: number, home: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === home;
  } catch {
    return false;
  }
}
