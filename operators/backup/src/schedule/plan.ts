/** Decides which backups of a schedule are due. A slot is a time of the schedule; the runs of many control planes are spread after it. */

import { createHash } from 'node:crypto';
import type { CronTimes } from './cron.ts';
import { scheduledName } from './names.ts';

export interface PlanInput {
  readonly schedule: string;
  readonly cron: CronTimes;
  readonly nowMs: number;
  /** Slots before the creation of the schedule are not due. */
  readonly createdMs: number;
  /** The last slot whose runs were all started. */
  readonly lastSlotMs?: number | undefined;
  readonly isSuspended: boolean;
  /** Whether runs are spread over a part of the interval. */
  readonly isSpread: boolean;
}

/** The newest slot that is not complete. Older ones were missed and are not made up for. */
export interface DueSlot {
  readonly slotMs: number;
  readonly spreadMs: number;
}

const spreadMaxMs = 3_600_000;

/** Returns undefined if no slot is due. */
export function dueSlot({ cron, nowMs, createdMs, lastSlotMs, isSuspended, isSpread }: PlanInput): DueSlot | undefined {
  if (isSuspended) return undefined;
  const slotMs = cron.previous(nowMs);
  if (slotMs === undefined || slotMs <= Math.max(createdMs, lastSlotMs ?? 0)) return undefined;
  const intervalMs = (cron.next(slotMs) ?? Infinity) - slotMs;
  return { slotMs, spreadMs: isSpread ? Math.min(intervalMs / 4, spreadMaxMs) : 0 };
}

export interface RunsInput extends DueSlot {
  readonly schedule: string;
  readonly nowMs: number;
  /** Names of the control planes. */
  readonly planes: readonly string[];
  /** Names of the backups that exist. */
  readonly existing: ReadonlySet<string>;
  /** Control planes with a backup that has not ended: they skip the slot. */
  readonly unfinished: ReadonlySet<string>;
}

export interface Runs {
  /** Backups to create now. */
  readonly due: readonly { readonly name: string; readonly plane: string }[];
  /** Time of the next run of this slot. Undefined: all are due. */
  readonly nextMs: number | undefined;
}

export function runsOf({ schedule, slotMs, spreadMs, nowMs, planes, existing, unfinished }: RunsInput): Runs {
  const due: { name: string; plane: string }[] = [];
  let nextMs: number | undefined;
  for (const plane of planes) {
    const name = scheduledName(schedule, slotMs, plane);
    if (existing.has(name) || unfinished.has(plane)) continue;
    const atMs = slotMs + offsetMs(schedule, plane, spreadMs);
    if (atMs <= nowMs) due.push({ name, plane });
    else nextMs = Math.min(nextMs ?? Infinity, atMs);
  }
  return { due, nextMs };
}

/** Returns the delay of a control plane after the slot: the same in each interval, and even over all control planes. */
export function offsetMs(schedule: string, plane: string, spreadMs: number): number {
  const hash = createHash('sha256').update(`${schedule}\0${plane}`).digest().readUInt32BE(0);
  return Math.floor((hash / 2 ** 32) * spreadMs);
}
