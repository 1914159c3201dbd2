/**
 * The backup before an upgrade of etcd, and the restore after one that failed, as objects for the controllers of backups. The backup has the
 * settings of the schedule of the control plane, or is stored in a folder of the operator if there is no schedule.
 */

import { ControlPlaneBackup, ControlPlaneBackupSchedule, ControlPlaneRestore } from '@hangar/backup-operator/api';
import type { BackupSettings } from '@hangar/backup-operator/api';
import { find } from '@hangar/client';
import { hasCode } from '@hangar/core';
import { findCondition } from '@hangar/runtime';
import type { SnapshotState } from '../etcd/upgrade.ts';
import type { Pass } from './pass.ts';

/** Folder of backups of control planes without a schedule. */
const folderName = 'etcd-upgrades';

type PassParts = Pick<Pass, 'apiReader' | 'client' | 'hostedControlPlane' | 'world' | 'signal'>;

/** Creates the backup, once, and returns its state. */
export async function upgradeBackup(pass: PassParts, name: string): Promise<SnapshotState> {
  const { apiReader, client, hostedControlPlane, world, signal } = pass;
  if (!world.hasBackups) return 'unavailable';
  const { namespace = '' } = hostedControlPlane.metadata;
  const backup = await find(apiReader, ControlPlaneBackup, { namespace, name }, { signal });
  if (backup) return stateOf(backup);
  const spec = { ...(await settingsOf(pass)), controlPlaneRef: referenceTo(hostedControlPlane) };
  await world.writes.make('upgrade-backup', () =>
    client.create(ControlPlaneBackup, { metadata: { namespace, name }, spec }, { signal }),
  );
  return 'pending';
}

/** Requests the restore in place, once. */
export async function restoreBackup(pass: PassParts, name: string): Promise<void> {
  const { client, hostedControlPlane, world, signal } = pass;
  const controlPlaneRef = referenceTo(hostedControlPlane);
  const spec = {
    source: { backupName: name },
    controlPlaneRef,
    mode: 'InPlace' as const,
    confirmation: controlPlaneRef.name,
  };
  const { namespace = '' } = hostedControlPlane.metadata;
  try {
    await world.writes.make('upgrade-restore', () =>
      client.create(ControlPlaneRestore, { metadata: { namespace, name }, spec }, { signal }),
    );
  } catch (error) {
    if (!hasCode(error, 'AlreadyExists')) throw error;
  }
}

const referenceTo = ({ metadata }: Pass['hostedControlPlane']) => ({
  kind: 'HostedControlPlane' as const,
  name: metadata.name!,
});

function stateOf({ status }: ControlPlaneBackup): SnapshotState {
  if (status?.phase === 'Complete') return 'complete';
  if (status?.phase !== 'Failed') return 'pending';
  const { reason = 'BackupFailed', message = 'the backup failed' } = findCondition(status.conditions, 'Complete') ?? {};
  return { reason, message };
}

/** Of the schedule with the name that sorts first, so that repeated calls agree. */
async function settingsOf({ apiReader, hostedControlPlane, signal }: PassParts): Promise<BackupSettings> {
  const { namespace = '', name } = hostedControlPlane.metadata;
  const { items } = await apiReader.list(ControlPlaneBackupSchedule, { namespace, signal });
  const [schedule] = items
    .filter(({ spec }) => spec.controlPlaneRef?.kind === 'HostedControlPlane' && spec.controlPlaneRef.name === name)
    .sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1));
  if (!schedule) return { destination: { folder: { name: folderName } } };
  const { destination, encryption, compression, keys } = schedule.spec;
  return {
    destination,
    ...(encryption ? { encryption } : {}),
    ...(compression ? { compression } : {}),
    ...(keys ? { keys } : {}),
  };
}
