/** The ControlPlaneBackupSchedule of `spec.etcd.backup`, as pure functions over the control plane and its Secret. */

import { createHash } from 'node:crypto';
import type { ControlPlaneBackupScheduleSpec } from '@hangar/backup-operator/api';
import { annotations as backupAnnotations } from '@hangar/backup-operator/api';
import type { Secret } from '@hangar/client/kinds/core-v1';
import type { EtcdBackup, HostedControlPlane } from '../api/index.ts';
import type { Fault } from '../fault.ts';
import { textIn } from '../pki/secrets.ts';

/** Complete backups that are kept. */
const backupsKept = 30;

export const scheduleName = ({ name }: { readonly name: string }): string => `${name}-etcd`;

/** The key of the Secret of `spec.etcd.backup`. */
export const backupSecretKey = ({ metadata }: HostedControlPlane, { secret }: EtcdBackup) => ({
  namespace: secret.namespace ?? metadata.namespace!,
  name: secret.name,
});

/** Returns the spec of the schedule, or why the Secret cannot be used. */
export function scheduleSpec(
  object: HostedControlPlane,
  backup: EtcdBackup,
  secret: Secret | undefined,
): ControlPlaneBackupScheduleSpec | Fault {
  const { namespace = '', name = '', uid = '' } = object.metadata;
  const key = backupSecretKey(object, backup);
  const label = `Secret ${JSON.stringify(`${key.namespace}/${key.name}`)} of spec.etcd.backup`;
  const allowed = secret?.metadata.annotations?.[backupAnnotations.allowedNamespaces] ?? '';
  if (key.namespace !== namespace && !allowed.split(',').some((one) => one.trim() === namespace)) {
    // The same text for a Secret that does not exist: its existence is not revealed to other namespaces.
    const message = `${label} cannot be used: its annotation ${backupAnnotations.allowedNamespaces} must contain ${JSON.stringify(namespace)}`;
    return { reason: 'BackupSecretForbidden', message };
  }
  if (!secret) return { reason: 'BackupSecretMissing', message: `${label} does not exist` };
  const { hostKey = 'host', regionKey = 'region', bucketKey = 'bucket' } = backup.secret;
  const [host, region, place] = [hostKey, regionKey, bucketKey].map((one) => textIn(secret, one).trim());
  const [bucket = '', ...prefix] = (place ?? '').split('/').filter((part) => part !== '');
  const wrong = /^[^/?#@\s]+$/.test(host ?? '') ? (bucket.length >= 3 ? undefined : bucketKey) : hostKey;
  if (wrong !== undefined) {
    return { reason: 'BackupSecretInvalid', message: `${label} has no valid value for the key ${wrong}` };
  }
  const { accessKeyIDKey, secretAccessKeyKey } = backup.secret;
  return {
    controlPlaneRef: { kind: 'HostedControlPlane', name },
    schedule: backup.schedule === '@daily' ? spreadDaily(uid) : backup.schedule,
    destination: {
      s3: {
        endpoint: `https://${host}`,
        ...(region ? { region } : {}),
        bucket,
        // Control planes of the same name, in other namespaces, do not share a prefix.
        prefix: [...prefix, namespace, name].join('/'),
        credentials: {
          ...key,
          ...(accessKeyIDKey === undefined ? {} : { accessKeyIDKey }),
          ...(secretAccessKeyKey === undefined ? {} : { secretAccessKeyKey }),
        },
      },
    },
    retention: { count: backupsKept },
  };
}

/** A minute of the hour after midnight that depends only on the control plane. */
export function spreadDaily(uid: string): string {
  const minute = createHash('sha256').update(uid).digest().readUInt32LE() % 60;
  return `${minute} 0 * * *`;
}
