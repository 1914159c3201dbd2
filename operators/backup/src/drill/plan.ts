/** Decides about drills: when the next one is due, and which backup it restores. Pure functions. */

import { createHash } from 'node:crypto';
import type { BackupDrillStatus, ControlPlaneBackup } from '../api/index.ts';
import type { PlaneHistory } from '../schedule/backup-history.ts';
import type { CronTimes } from '../schedule/cron.ts';

export interface DrillTimes {
  readonly isDue: boolean;
  /** Time of the next drill. Undefined: there is none. */
  readonly nextMs: number | undefined;
}

export function drillTimes(
  cron: CronTimes,
  {
    createdMs,
    lastStartMs,
    nowMs,
  }: { readonly createdMs: number; readonly lastStartMs?: number | undefined; readonly nowMs: number },
): DrillTimes {
  const slotMs = cron.previous(nowMs);
  const isDue = slotMs !== undefined && slotMs > Math.max(createdMs, lastStartMs ?? 0);
  return { isDue, nextMs: cron.next(nowMs) };
}

/** Returns the newest complete backup of the control plane after the last one, in the order of names. Undefined: there is none. */
export function nextBackup(
  history: ReadonlyMap<string, Pick<PlaneHistory, 'complete'>>,
  last: string | undefined,
): ControlPlaneBackup | undefined {
  const planes = [...history].filter(([, { complete }]) => complete.length > 0).sort(([a], [b]) => (a < b ? -1 : 1));
  const [, next] = planes.find(([plane]) => last === undefined || plane > last) ?? planes[0] ?? [];
  return next?.complete[0];
}

/** Returns the name of the temporary control plane of a drill. It is the same after a restart of the operator. */
export function drillName(scheduleUid: string, { startTime = '' }: Pick<BackupDrillStatus, 'startTime'>): string {
  return `drill-${createHash('sha256').update(`${scheduleUid}\0${startTime}`).digest('hex').slice(0, 16)}`;
}
