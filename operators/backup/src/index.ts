/**
 * @hangar/backup-operator: backups of control planes of any kind, on schedules, their restores and drills.
 *
 *   api/            types, kinds and names; the definitions are generated from them
 *   target.ts       the contract of a kind of control planes
 *   destinations/   from a spec and its Secrets to storage
 *   backup/         ControlPlaneBackup: one backup, made once
 *   schedule/       ControlPlaneBackupSchedule: when backups are due, and which ones retention deletes
 *   restore/        ControlPlaneRestore: verifies a backup and restores it
 *   drill/          restores of backups into temporary control planes
 *   metrics/        metrics and alert rules
 *   operator.ts     the controllers on one manager
 *   rbac.ts         the rights that they need
 */

export * from './api/index.ts';
export { definitions } from './api/generated/index.ts';
export * from './errors.ts';
export { addBackupControllers, backupOperator, defaultPlatformNamespace } from './operator.ts';
export type { BackupControllersOptions, BackupOperatorOptions } from './operator.ts';
export { backupRules, electionRules } from './rbac.ts';
export { parseCron } from './schedule/cron.ts';
export type { CronTimes } from './schedule/cron.ts';
export type * from './target.ts';
