/** The backups of a schedule by control plane, and which of them retention deletes. Pure functions. */

import type { BackupRetention, ControlPlaneBackup } from '../api/index.ts';
import { isFinished } from '../backup/outcome.ts';

/** The backups of one control plane, newest first. Those that are being deleted are not part of it. */
export interface PlaneHistory {
  readonly complete: readonly ControlPlaneBackup[];
  readonly failed: readonly ControlPlaneBackup[];
  readonly unfinished: readonly ControlPlaneBackup[];
  /** Whether the newest backup that ended failed. */
  readonly isFailing: boolean;
}

/** Failed backups have no data and only serve to find the cause. */
const failedMax = 3;

const createdMs = ({ metadata }: ControlPlaneBackup): number => Date.parse(metadata.creationTimestamp ?? '');
const completedMs = (backup: ControlPlaneBackup): number =>
  Date.parse(backup.status?.completionTime ?? '') || createdMs(backup);

const newestFirst = (a: ControlPlaneBackup, b: ControlPlaneBackup): number =>
  createdMs(b) - createdMs(a) || (a.metadata.name! < b.metadata.name! ? 1 : -1);

/** Groups backups by the name of their control plane. */
export function historyOf(backups: Iterable<ControlPlaneBackup>): Map<string, PlaneHistory> {
  const byPlane = Map.groupBy(
    Iterator.from(backups).filter(({ metadata }) => metadata.deletionTimestamp === undefined),
    ({ spec }) => spec.controlPlaneRef.name,
  );
  return new Map(Array.from(byPlane, ([plane, own]) => [plane, planeHistory(own.sort(newestFirst))]));
}

function planeHistory(sorted: readonly ControlPlaneBackup[]): PlaneHistory {
  return {
    complete: sorted.filter(({ status }) => status?.phase === 'Complete'),
    failed: sorted.filter(({ status }) => status?.phase === 'Failed'),
    unfinished: sorted.filter((one) => !isFinished(one) && one.status?.phase !== 'Deleting'),
    isFailing: sorted.find(isFinished)?.status?.phase === 'Failed',
  };
}

/** Returns the time of the last complete backup. */
export function lastSuccessMs({ complete }: Pick<PlaneHistory, 'complete'>): number | undefined {
  return complete[0] && Math.max(...complete.map(completedMs));
}

export interface Expired {
  /** To delete. */
  readonly backups: readonly ControlPlaneBackup[];
  /** Time at which the next one expires by its age. */
  readonly nextMs: number | undefined;
}

/** The newest complete backup never expires, and failed ones do not count. */
export function expiredBackups(
  { complete, failed }: Pick<PlaneHistory, 'complete' | 'failed'>,
  { count = Infinity, age }: BackupRetention,
  nowMs: number,
): Expired {
  const ageMs = age === undefined ? Infinity : durationMs(age);
  const isExpired = (backup: ControlPlaneBackup, at: number): boolean =>
    at > 0 && (at >= count || completedMs(backup) + ageMs <= nowMs);
  const kept = complete.filter((backup, at) => at > 0 && !isExpired(backup, at));
  const nextMs = Math.min(...kept.map((backup) => completedMs(backup) + ageMs));
  return {
    backups: [...complete.filter(isExpired), ...failed.slice(failedMax)],
    nextMs: Number.isFinite(nextMs) ? nextMs : undefined,
  };
}

const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Parses a duration such as `720h` or `1h30m`, whose form the definition of the kind checks. */
export const durationMs = (text: string): number =>
  Array.from(text.matchAll(/([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)/g)).reduce(
    (sum, [, amount, unit]) => sum + Number(amount) * unitsMs[unit!]!,
    0,
  );
