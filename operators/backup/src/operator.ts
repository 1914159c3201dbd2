/**
 * The controllers of backups: on their own manager, or on the manager of an operator that passes the target of its kind.
 *
 *     addBackupControllers(manager, { targets: [hostedTarget], folder: '/var/lib/hangar/backups' });
 */

import type { Client, Reader } from '@hangar/client';
import { systemClock, systemRandom } from '@hangar/core';
import type { Clock, Logger, Random } from '@hangar/core';
import { allTransforms, Manager, withoutLastApplied, withoutManagedFields } from '@hangar/runtime';
import type { LeaderElectionOptions, ListenOptions } from '@hangar/runtime';
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

export interface BackupOperatorOptions extends BackupControllersOptions {
  /** The cluster with the kinds of backups. Closed by its creator. */
  readonly management: Client;
  /** Absent: this process works without leader election. */
  readonly leaderElection?: LeaderElectionOptions | undefined;
  readonly metrics?: ListenOptions | false | undefined;
  readonly health?: ListenOptions | false | undefined;
  readonly log?: Logger | undefined;
}

const lean = { transform: allTransforms(withoutManagedFields, withoutLastApplied) };

/** Starts nothing before `run`. The definitions must be installed by then. */
export function backupOperator(options: BackupOperatorOptions): Manager {
  const { management, leaderElection, metrics = false, health = metrics, clock, random, log } = options;
  const manager = new Manager({
    client: management,
    cache: { defaults: lean },
    metrics,
    health,
    ...(leaderElection && { leaderElection }),
    ...(clock && { clock }),
    ...(random && { random }),
    ...(log && { log }),
  });
  addBackupControllers(manager, options);
  return manager;
}
