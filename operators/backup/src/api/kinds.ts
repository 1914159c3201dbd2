/** The three kinds as values, for clients. */

import { defineKind } from '@hangar/client';
import type { ControlPlaneBackup as ControlPlaneBackupObject } from './control-plane-backup.ts';
import type { ControlPlaneBackupSchedule as ControlPlaneBackupScheduleObject } from './control-plane-backup-schedule.ts';
import type { ControlPlaneRestore as ControlPlaneRestoreObject } from './control-plane-restore.ts';
import { apiVersion } from './names.ts';

export const ControlPlaneBackup = defineKind<ControlPlaneBackupObject>({
  apiVersion,
  kind: 'ControlPlaneBackup',
  plural: 'controlplanebackups',
  isNamespaced: true,
});
export type ControlPlaneBackup = ControlPlaneBackupObject;

export const ControlPlaneBackupSchedule = defineKind<ControlPlaneBackupScheduleObject>({
  apiVersion,
  kind: 'ControlPlaneBackupSchedule',
  plural: 'controlplanebackupschedules',
  isNamespaced: true,
});
export type ControlPlaneBackupSchedule = ControlPlaneBackupScheduleObject;

export const ControlPlaneRestore = defineKind<ControlPlaneRestoreObject>({
  apiVersion,
  kind: 'ControlPlaneRestore',
  plural: 'controlplanerestores',
  isNamespaced: true,
});
export type ControlPlaneRestore = ControlPlaneRestoreObject;
