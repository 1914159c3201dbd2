/** Flags of backups of control planes. */

import { join, resolve } from 'node:path';
import { UsageError } from '@hangar/core/command-line';
import type { HelpGroup } from '@hangar/core/command-line';

export interface BackupOptions {
  /** Folder for backups, with a folder for each namespace. */
  readonly folder: string;
  /** Whether the folder is created. A folder that the user sets must exist, because it may be on a volume that is not mounted. */
  readonly createsFolder: boolean;
  /** The namespace whose objects may refer to ControlPlanes. */
  readonly namespace: string;
  /** Maximum number of backups that are made at the same time. */
  readonly concurrency: number;
}

export const backupFlags = {
  'backup-folder': { type: 'string' },
  'backup-namespace': { type: 'string', default: 'hangar-system' },
  'backup-concurrency': { type: 'string', default: '4' },
} as const;

export const backupHelp: HelpGroup = {
  title: 'Backups',
  rows: [
    [
      '--backup-folder DIR',
      'existing folder for backups whose destination is a folder; each namespace has its own folder in it (default: DIR/backups in the data directory, created)',
    ],
    [
      '--backup-namespace NAME',
      'namespace of the ControlPlaneBackups, schedules and restores of ControlPlanes (default: hangar-system)',
    ],
    ['--backup-concurrency N', 'maximum number of backups that are made at the same time (default: 4)'],
  ],
};

interface Values {
  readonly 'backup-folder'?: string | undefined;
  readonly 'backup-namespace': string;
  readonly 'backup-concurrency': string;
}

/** Throws a UsageError. */
export function backupOptions(values: Values, dataDirectory: string): BackupOptions {
  const { 'backup-folder': folder, 'backup-namespace': namespace, 'backup-concurrency': count } = values;
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(namespace)) {
    throw new UsageError(`--backup-namespace: "${namespace}" is not the name of a namespace`);
  }
  const concurrency = Number(count);
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > 100) {
    throw new UsageError(`--backup-concurrency: "${count}" is not a number between 1 and 100`);
  }
  return {
    folder: folder === undefined ? join(dataDirectory, 'backups') : resolve(folder),
    createsFolder: folder === undefined,
    namespace,
    concurrency,
  };
}
