/**
 * The alert rules of backups, declared once. `npm run generate -- alerts` writes them as a rules file of Prometheus and as a PrometheusRule
 * of the Prometheus operator. `docs/troubleshooting.md` has a section for each alert, which its runbook names.
 */

import { alertRuleGroups } from '@hangar/runtime';
import type { Alert, AlertGroup } from '@hangar/runtime';
import { prefix } from './backup-metrics.ts';

const schedule = 'ControlPlaneBackupSchedule {{ $labels.namespace }}/{{ $labels.schedule }}';

const backups: readonly Alert[] = [
  {
    alert: 'BackupTooOld',
    expr: `time() - ${prefix}_last_success_timestamp_seconds > on (namespace, schedule) group_left () 2 * ${prefix}_schedule_interval_seconds`,
    for: '10m',
    severity: 'warning',
    summary: `The last backup of control plane {{ $labels.control_plane }} by ${schedule} is too old.`,
    description:
      'The last complete backup is {{ $value | humanizeDuration }} old, which is more than two intervals of the schedule.',
  },
  {
    alert: 'BackupFailing',
    expr: `${prefix}_schedule_failing > 0`,
    for: '15m',
    severity: 'warning',
    summary: `Backups of ${schedule} fail.`,
    description:
      'The last backup of {{ $value }} control planes failed. The condition Complete of the ControlPlaneBackups has the reason.',
  },
  {
    alert: 'BackupDrillFailed',
    expr: `${prefix}_drill_success == 0`,
    for: '1m',
    severity: 'critical',
    summary: `The last drill of ${schedule} failed.`,
    description: 'A backup could not be restored, or its content differs. The condition DrillSucceeded has the reason.',
  },
  {
    alert: 'BackupOperatorDown',
    expr: 'absent(controller_runtime_max_concurrent_reconciles{controller="controlplanebackupschedule"})',
    for: '5m',
    severity: 'critical',
    summary: 'The operator of backups is not running.',
    description:
      'No process reports metrics of the controller of ControlPlaneBackupSchedules. No backups are made, and the other alerts of backups cannot fire.',
  },
];

export const alertGroups: readonly AlertGroup[] = [{ name: 'hangar-backups', alerts: backups }];

/** Path of the page with a section for each alert. */
export const runbookPage = 'docs/troubleshooting.md';

/** The groups in the format of Prometheus. */
export const ruleGroups = () => alertRuleGroups(alertGroups, runbookPage);
