/** The kind ControlPlaneBackupSchedule: periodic backups of control planes, their retention, and restore drills. */

import type { ApiObject } from '@hangar/client';
import type { Condition } from '@hangar/client/kinds/meta-v1';
import type { BackupSettings } from './control-plane-backup.ts';
import type { ControlPlaneKind, ControlPlaneReference } from './references.ts';

/**
 * Periodic backups of one control plane, or of all that a selector matches.
 *
 * @shortName cpbs
 * @category hangar
 * @column Schedule string .spec.schedule
 * @column Suspended boolean .spec.suspend
 * @column Backups integer .status.backups
 * @column Failing integer .status.failing
 * @column Last date .status.lastBackupTime
 * @column Drill string .status.drill.result
 * @column Ready string .status.conditions[?(@.type=="Ready")].status
 * @column Age date .metadata.creationTimestamp
 */
export interface ControlPlaneBackupSchedule extends ApiObject {
  /** Desired state. */
  spec: ControlPlaneBackupScheduleSpec;
  /** Observed state. */
  status?: ControlPlaneBackupScheduleStatus;
}

/** @rule "has(self.controlPlaneRef) != has(self.controlPlaneSelector)" message "exactly one of controlPlaneRef and controlPlaneSelector must be set" */
export interface ControlPlaneBackupScheduleSpec extends BackupSettings {
  /** Control plane to back up. */
  controlPlaneRef?: ControlPlaneReference;
  /** Control planes to back up. */
  controlPlaneSelector?: ControlPlaneSelector;
  /**
   * Time of the backups: a cron expression of five fields, or @hourly, @daily, @weekly or @monthly. The backups of many control planes are
   * spread over a part of the interval.
   *
   * @minLength 1
   * @maxLength 100
   */
  schedule: string;
  /**
   * Time zone of the schedule, such as Europe/Berlin. Defaults to UTC.
   *
   * @maxLength 64
   */
  timeZone?: string;
  /** Whether no new backups are made. */
  suspend?: boolean;
  /**
   * Limits of the backups to keep. If unset, all complete backups are kept. The newest complete backup of a control plane is always kept,
   * and of failed ones the last three.
   */
  retention?: BackupRetention;
  /** Restores the newest backup from time to time to show that it can be restored. */
  drill?: BackupDrill;
}

export interface ControlPlaneSelector {
  /**
   * Kind of the control planes.
   *
   * @default ControlPlane
   */
  kind?: ControlPlaneKind;
  /** Labels of the control planes. An empty map matches all of them. */
  matchLabels?: Record<string, string>;
}

export interface BackupRetention {
  /**
   * Number of complete backups to keep for each control plane.
   *
   * @format int32
   * @minimum 1
   * @maximum 10000
   */
  count?: number;
  /**
   * Age after which backups are deleted, such as 720h.
   *
   * @pattern ^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$
   */
  age?: string;
}

export interface BackupDrill {
  /**
   * Time of the drills: a cron expression of five fields, or @hourly, @daily, @weekly or @monthly.
   *
   * @minLength 1
   * @maxLength 100
   */
  schedule: string;
}

export interface ControlPlaneBackupScheduleStatus {
  /**
   * Number of control planes that the schedule matches.
   *
   * @format int32
   */
  controlPlanes?: number;
  /**
   * Number of complete backups that are kept.
   *
   * @format int32
   */
  backups?: number;
  /**
   * Number of control planes whose last backup failed.
   *
   * @format int32
   */
  failing?: number;
  /**
   * Time of the last complete backup.
   *
   * @format date-time
   */
  lastBackupTime?: string;
  /**
   * Time of the next backup.
   *
   * @format date-time
   */
  nextBackupTime?: string;
  /**
   * The scheduled time of the last run that was started.
   *
   * @format date-time
   */
  lastScheduleTime?: string;
  /** Result of the last drill. */
  drill?: BackupDrillStatus;
  /**
   * The metadata.generation that this status was computed from.
   *
   * @format int64
   */
  observedGeneration?: number;
  /**
   * Conditions: Ready, and DrillSucceeded if drills are scheduled.
   *
   * @listType map
   * @listMapKey type
   */
  conditions?: Condition[];
}

export type DrillResult = 'Running' | 'Succeeded' | 'Failed';

export interface BackupDrillStatus {
  /** Running, Succeeded or Failed. */
  result?: DrillResult;
  /** Name of the control plane whose backup was restored. The next drill restores a backup of another one. */
  controlPlane?: string;
  /** The ControlPlaneBackup that was restored. */
  backup?: string;
  /**
   * Time at which the drill started.
   *
   * @format date-time
   */
  startTime?: string;
  /**
   * Time at which the drill ended.
   *
   * @format date-time
   */
  completionTime?: string;
  /** Duration of the restore, such as 12.5s. */
  duration?: string;
  /**
   * Number of objects in the restored control plane.
   *
   * @format int64
   */
  objects?: number;
  /** Findings of the drill. */
  message?: string;
  /**
   * Time of the next drill.
   *
   * @format date-time
   */
  nextTime?: string;
}
