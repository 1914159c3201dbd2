/** From the backups of a schedule to its status and metrics. Pure functions. */

import type { ControlPlaneBackupSchedule, ControlPlaneBackupScheduleStatus } from '../api/index.ts';
import { wholeSeconds } from '../backup/outcome.ts';
import type { ScheduleFigures } from '../metrics/backup-metrics.ts';
import { lastSuccessMs } from './backup-history.ts';
import type { PlaneHistory } from './backup-history.ts';
import type { CronTimes } from './cron.ts';

/** Returns the counts and times of the status that depend on the backups. */
export function statusOfHistory(
  history: ReadonlyMap<string, PlaneHistory>,
): Pick<ControlPlaneBackupScheduleStatus, 'backups' | 'failing' | 'lastBackupTime'> {
  const all = [...history.values()];
  const times = all.map(lastSuccessMs).filter((one) => one !== undefined);
  return {
    backups: all.reduce((sum, { complete }) => sum + complete.length, 0),
    failing: all.filter(({ isFailing }) => isFailing).length,
    ...(times.length > 0 && { lastBackupTime: wholeSeconds(Math.max(...times)) }),
  };
}

/** A suspended schedule has no interval, so that the age of its backups raises no alert. */
export function figuresOf(
  { spec }: ControlPlaneBackupSchedule,
  history: ReadonlyMap<string, PlaneHistory>,
  { cron, nowMs }: { readonly cron: CronTimes; readonly nowMs: number },
): ScheduleFigures {
  const nextMs = cron.next(nowMs);
  const laterMs = nextMs === undefined ? undefined : cron.next(nextMs);
  const isActive = spec.suspend !== true && nextMs !== undefined && laterMs !== undefined;
  const known = Array.from(history, ([plane, one]) => [plane, lastSuccessMs(one)] as const);
  return {
    intervalMs: isActive ? laterMs - nextMs : undefined,
    failing: [...history.values()].filter(({ isFailing }) => isFailing).length,
    lastSuccess: new Map(known.filter((entry): entry is [string, number] => entry[1] !== undefined)),
  };
}
