/** Pure decisions about the status of a backup. */

import type { BackupRecord } from '@hangar/backup';
import type { NewCondition } from '@hangar/runtime';
import type {
  BackupPhase,
  ControlPlaneBackup,
  ControlPlaneBackupSpec,
  ControlPlaneBackupStatus,
} from '../api/index.ts';
import type { Fault } from '../faults.ts';
import { contentOf } from './make-backup.ts';

/** With the delays between them, a backup fails about 40 minutes after its first attempt. */
export const attemptsMax = 10;
export const backOff = { baseMs: 10_000, maxMs: 600_000 };

export const isFinished = ({ status }: Pick<ControlPlaneBackup, 'status'>): boolean =>
  status?.phase === 'Complete' || status?.phase === 'Failed';

/** Unless the spec says otherwise, CAs and signing keys are stored only with encryption. */
export const includesKeys = ({ keys, encryption }: Pick<ControlPlaneBackupSpec, 'keys' | 'encryption'>): boolean =>
  keys === undefined ? encryption !== undefined : keys === 'Include';

export interface Decision {
  readonly phase: BackupPhase;
  readonly condition: NewCondition;
}

/** Decides whether a failed attempt is repeated. `attempts` includes the failed one. */
export function afterFailure({ reason, message, isPermanent }: Fault, attempts: number): Decision {
  const isLast = isPermanent || attempts >= attemptsMax;
  const prefix = isPermanent ? '' : `attempt ${attempts} of ${attemptsMax}: `;
  const text = `${prefix}${message}${isLast ? '' : '; retrying'}`;
  return {
    phase: isLast ? 'Failed' : 'Pending',
    condition: { type: 'Complete', status: 'False', reason, message: text },
  };
}

/** Returns the fields of the status of a stored backup. */
export function completeStatus(record: BackupRecord): Partial<ControlPlaneBackupStatus> {
  return {
    phase: 'Complete',
    sizeBytes: record.sizeBytes,
    size: byteText(record.sizeBytes),
    sha256: record.sha256,
    completionTime: wholeSeconds(record.storedAt),
    ...contentOf(record),
  };
}

/** Times of objects have no fractions. */
export const wholeSeconds = (time: string | number): string => `${new Date(time).toISOString().slice(0, 19)}Z`;

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** Returns a size such as `12.3 MiB`. */
export function byteText(bytes: number): string {
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return power === 0 ? `${bytes} B` : `${(bytes / 1024 ** power).toFixed(1)} ${units[power]}`;
}
