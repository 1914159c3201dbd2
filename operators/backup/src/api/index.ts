/** The API group backup.hangar.dev/v1alpha1: types, kinds, names. */

export type * from './references.ts';
export type {
  BackupCompression,
  BackupDeletionPolicy,
  BackupKeys,
  BackupPhase,
  BackupSettings,
  ControlPlaneBackupSpec,
  ControlPlaneBackupStatus,
} from './control-plane-backup.ts';
export type {
  BackupDrill,
  BackupDrillStatus,
  BackupRetention,
  ControlPlaneBackupScheduleSpec,
  ControlPlaneBackupScheduleStatus,
  ControlPlaneSelector,
  DrillResult,
} from './control-plane-backup-schedule.ts';
export type {
  ControlPlaneRestoreSpec,
  ControlPlaneRestoreStatus,
  RestoreMode,
  RestorePhase,
  RestoreSource,
  StoredBackupReference,
} from './control-plane-restore.ts';
export { ControlPlaneBackup, ControlPlaneBackupSchedule, ControlPlaneRestore } from './kinds.ts';
export * from './names.ts';
