/**
 * Keeps the ControlPlaneBackupSchedule of `spec.etcd.backup`, which the control plane owns, and reports its times. It is not a phase: a
 * control plane whose backups cannot be scheduled still works.
 */

import { find, keyOf } from '@hangar/client';
import { ControlPlaneBackupSchedule } from '@hangar/backup-operator/api';
import { Secret } from '@hangar/client/kinds/core-v1';
import { isControlledBy } from '@hangar/runtime';
import type { NewCondition } from '@hangar/runtime';
import { backupSecretKey, scheduleName, scheduleSpec } from '../backup/schedule.ts';
import { clusterNameLabel } from '../api/index.ts';
import { isFault } from '../fault.ts';
import type { Fault } from '../fault.ts';
import { rendered } from '../render/index.ts';
import { applyObject, findObject } from './apply.ts';
import type { Pass } from './pass.ts';

export const backupCondition = 'EtcdBackupScheduled';
/** Secrets of users are not watched. */
const secretRetryMs = 60_000;

export interface EtcdBackupReport {
  readonly fault?: Fault | undefined;
  readonly lastTime?: string | undefined;
  readonly nextTime?: string | undefined;
}

/** Sets `pass.etcdBackup`. */
export async function etcdBackup(pass: Pass): Promise<void> {
  const { world, hostedControlPlane: object, plane, apiReader, signal } = pass;
  const { backup } = object.spec.etcd ?? {};
  if (!backup) return world.hasBackups ? removeSchedule(pass, plane.name) : undefined;
  if (!world.hasBackups) {
    const message = 'spec.etcd.backup needs the kinds of backup.hangar.dev, which are not installed';
    pass.etcdBackup = { fault: { reason: 'BackupsNotInstalled', message } };
    return undefined;
  }
  const secret = await find(apiReader, Secret, backupSecretKey(object, backup), { signal });
  const spec = scheduleSpec(object, backup, secret);
  const applied = isFault(spec) ? spec : await applySchedule(pass, spec);
  pass.wakeUps.push(world.clock.now() + secretRetryMs * (isFault(applied) ? 1 : 10));
  if (isFault(applied)) {
    // An existing schedule continues with its last destination.
    const key = { namespace: plane.namespace, name: scheduleName(plane) };
    const known = await findObject(pass, ControlPlaneBackupSchedule, key);
    pass.etcdBackup = {
      fault: applied,
      lastTime: known?.status?.lastBackupTime,
      nextTime: known?.status?.nextBackupTime,
    };
    return undefined;
  }
  const { lastBackupTime: lastTime, nextBackupTime: nextTime } = applied.status ?? {};
  pass.etcdBackup = { lastTime, nextTime };
}

function applySchedule(
  pass: Pass,
  spec: ControlPlaneBackupSchedule['spec'],
): Promise<ControlPlaneBackupSchedule | Fault> {
  const { namespace, owner, name } = pass.plane;
  const metadata = {
    namespace,
    name: scheduleName(pass.plane),
    labels: { [clusterNameLabel]: name },
    ownerReferences: [owner],
  };
  return applyObject<ControlPlaneBackupSchedule>(pass, rendered(ControlPlaneBackupSchedule, { metadata, spec }));
}

/** Backups that were made stay. `name`: prefix of the names of all objects. */
export async function removeSchedule(
  pass: Pick<Pass, 'client' | 'world' | 'signal' | 'hostedControlPlane'>,
  name: string,
): Promise<void> {
  const { client, world, signal, hostedControlPlane } = pass;
  const key = { namespace: hostedControlPlane.metadata.namespace, name: scheduleName({ name }) };
  const schedule = await find(client, ControlPlaneBackupSchedule, key, { signal });
  if (!schedule || !isControlledBy(schedule, hostedControlPlane)) return;
  const { uid, resourceVersion } = schedule.metadata;
  const preconditions = { uid: uid!, resourceVersion: resourceVersion! };
  await world.writes.make('backup-schedule-delete', () =>
    client.delete(ControlPlaneBackupSchedule, keyOf(schedule), { preconditions, signal }),
  );
}

export const backupConditionOf = ({ fault }: EtcdBackupReport): NewCondition =>
  fault
    ? { type: backupCondition, status: false, reason: fault.reason, message: fault.message }
    : { type: backupCondition, status: true, reason: 'Scheduled' };
