/**
 * The controllers of backups on a manager. They run beside the controllers of a kind of control planes, whose operator passes its target:
 *
 *     addBackupControllers(manager, { targets: [hostedTarget], folder: '/var/lib/hangar/backups' });
 */

import type { Reader } from '@hangar/client';
import { systemClock, systemRandom } from '@hangar/core';
import type { Clock, Random } from '@hangar/core';
import type { Manager } from '@hangar/runtime';
import { ControlPlaneBackup, ControlPlaneBackupSchedule } from './api/index.ts';
import { backupController } from './backup/controller.ts';
import { backupDeletionController } from './backup/deletion-controller.ts';
import { incompleteUploads } from './backup/incomplete-uploads.ts';
import { RunningBackups } from './backup/running-backups.ts';
import type { DestinationSource } from './destinations/open.ts';
import { drillController } from './drill/controller.ts';
import { BackupMetrics } from './metrics/backup-metrics.ts';
import { restoreController } from './restore/controller.ts';
import { addScheduleIndex, scheduleController } from './schedule/controller.ts';
import type { BackupTarget } from './target.ts';
import type { BackupWorld } from './world.ts';

export interface BackupControllersOptions {
  /** Kinds of control planes that this operator backs up. */
  readonly targets: readonly BackupTarget[];
  /** Folder for backups, with a folder for each namespace. Absent: backups are only stored in S3. */
  readonly folder?: string | undefined;
  /** The namespace whose objects may refer to cluster-scoped control planes. Absent: `hangar-system`. */
  readonly platformNamespace?: string | undefined;
  /** Maximum number of backups that are made at the same time. Absent: 4. */
  readonly concurrency?: number | undefined;
  /** Reads Secrets. Absent: from the server. */
  readonly reader?: Pick<Reader, 'get'> | undefined;
  /** Limits of requests to S3 servers, for tests. */
  readonly s3?: DestinationSource['s3'];
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
}

export const defaultPlatformNamespace = 'hangar-system';
export const defaultConcurrency = 4;

/** Starts nothing before `run` of the manager. The definitions must be installed by then. */
export function addBackupControllers(manager: Manager, options: BackupControllersOptions): void {
  const { targets, folder, concurrency = defaultConcurrency, clock = systemClock, random = systemRandom } = options;
  const { cluster, log, registry } = manager;
  const destinations = { reader: options.reader ?? cluster.apiReader, folder, clock, random, s3: options.s3 };
  const world: BackupWorld = {
    targets: new Map(targets.map((target) => [target.kind, target])),
    platformNamespace: options.platformNamespace ?? defaultPlatformNamespace,
    destinations,
    events: manager.recorder('hangar-backup').for(cluster),
    metrics: new BackupMetrics(registry),
    clock,
    random,
  };
  const running = new RunningBackups(concurrency);
  manager.controller(backupController({ ...world, running, concurrency }));
  manager.controller(backupDeletionController({ ...world, running }));
  addScheduleIndex(cluster.cache);
  manager.controller(scheduleController({ ...world, apiReader: cluster.apiReader }));
  manager.controller(restoreController(world));
  manager.controller(drillController({ ...world, apiReader: cluster.apiReader }));
  manager.add(
    incompleteUploads({
      ...world,
      backups: cluster.cache.informer(ControlPlaneBackup),
      schedules: cluster.cache.informer(ControlPlaneBackupSchedule),
      log,
    }),
  );
}
