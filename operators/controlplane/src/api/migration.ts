/** The migration of a control plane between modes: its settings, and its record in the status. */

import type { Condition } from './condition.ts';
import type { ControlPlaneMode } from './control-plane.ts';

export interface MigrationSpec {
  /**
   * Seconds between the switch and the deletion of the old data.
   *
   * @format int32
   * @minimum 0
   * @maximum 2592000
   * @default 300
   */
  gracePeriodSeconds?: number;
  /**
   * Seconds for which requests may wait during the switch. An attempt that takes longer ends before the switch, and is repeated later.
   *
   * @format int32
   * @minimum 1
   * @maximum 8
   * @default 5
   */
  pauseSecondsMax?: number;
}

/**
 * Provision: the new side is created. CopyAndFollow: it receives the data and every change. Verify: both sides are compared. Switch: requests
 * wait while the last changes are copied. Registrations: services connect to the new side. Decommission: the old data is deleted.
 */
export type MigrationStep = 'Provision' | 'CopyAndFollow' | 'Verify' | 'Switch' | 'Registrations' | 'Decommission';

/** Switched: the new side serves the control plane. Aborted: the old side serves it. Exactly one of them is recorded, and it is final. */
export type MigrationOutcome = 'Switched' | 'Aborted';

export interface MigrationStatus {
  /** Identifies the migration on both sides. */
  id?: string;
  /** Mode before the migration. */
  from: ControlPlaneMode;
  /** Mode after the migration. */
  to: ControlPlaneMode;
  /** Current step of the migration. */
  step?: MigrationStep;
  /** Decision of the migration. If unset, the old side serves the control plane, and the migration can be aborted. */
  outcome?: MigrationOutcome;
  /**
   * Number of attempts to switch.
   *
   * @format int32
   * @minimum 0
   */
  attempts?: number;
  /**
   * Time at which the current attempt to switch started. Set only during an attempt.
   *
   * @format date-time
   */
  attemptStartedAt?: string;
  /**
   * Time at which the last attempt to switch stopped, or the outcome was recorded.
   *
   * @format date-time
   */
  attemptEndedAt?: string;
  /**
   * Time of the next attempt to switch, at the earliest.
   *
   * @format date-time
   */
  notBefore?: string;
  /**
   * Time at which the migration started.
   *
   * @format date-time
   */
  startedAt?: string;
  /**
   * Time of the switch.
   *
   * @format date-time
   */
  switchedAt?: string;
  /**
   * Time at which the migration completed.
   *
   * @format date-time
   */
  completedAt?: string;
  /**
   * Revision of the switch: the last one of the old side.
   *
   * @format int64
   */
  revision?: number;
  /**
   * Number of revisions that the new side is behind.
   *
   * @format int64
   */
  lag?: number;
  /**
   * Number of objects at the last comparison of both sides.
   *
   * @format int64
   */
  objects?: number;
  /**
   * Milliseconds for which requests waited during the switch.
   *
   * @format int64
   */
  pauseMs?: number;
  /** Human-readable details. */
  message?: string;
  /**
   * One condition for each step: Provision, CopyAndFollow, Verify, Switch, Registrations and Decommission.
   *
   * @listType map
   * @listMapKey type
   */
  conditions?: Condition[];
}
