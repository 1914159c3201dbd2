/** Opens the destination of a backup: from the spec and its Secrets to `@hangar/backup`. */

import { folderStorage, openDestination, s3Storage } from '@hangar/backup';
import type { BackupDestination, S3StorageOptions } from '@hangar/backup';
import type { Reader } from '@hangar/client';
import { asError, hasCode } from '@hangar/core';
import type { Clock, Random } from '@hangar/core';
import type { BackupDestination as DestinationSpec, S3Destination } from '../api/index.ts';
import { ReferenceFault } from '../errors.ts';
import { backupFolder } from './folders.ts';
import { readS3Secret } from './secrets.ts';
import type { S3Secret, SecretReading } from './secrets.ts';

export interface DestinationSource {
  /** Reads Secrets from the server. */
  readonly reader: Pick<Reader, 'get'>;
  /** Folder that contains a folder for each namespace. Absent: folders cannot be destinations. */
  readonly folder: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
  /** Limits of requests to S3 servers, for tests. */
  readonly s3?: Pick<S3StorageOptions, 'attemptsMax' | 'backOff' | 'idleTimeoutMs'> | undefined;
}

export interface DestinationRequest {
  readonly spec: DestinationSpec;
  /** Namespace of the object with the spec. */
  readonly namespace: string;
  readonly signal?: AbortSignal | undefined;
}

export interface OpenDestination extends Disposable {
  readonly destination: BackupDestination;
  /** For status and logs, without credentials. */
  readonly location: string;
}

/** A Secret is read again after this time, so that new credentials are used during a long upload. */
const credentialsMaxAgeMs = 30_000;

/** Throws `ReferenceFault`s. No request is sent to the storage. */
export async function openBackupDestination(
  source: DestinationSource,
  { spec, namespace, signal }: DestinationRequest,
): Promise<OpenDestination> {
  const { clock, random, reader } = source;
  if (spec.s3) return openS3(spec.s3, source, { reader, namespace, signal });
  if (!spec.folder) throw new ReferenceFault('DestinationInvalid', 'spec.destination must have s3 or folder');
  const path = await backupFolder({ root: source.folder, namespace, name: spec.folder.name });
  return {
    destination: openDestination(folderStorage(path), { clock, random }),
    location: `folder ${spec.folder.name}`,
    [Symbol.dispose]: () => {},
  };
}

async function openS3(
  spec: S3Destination,
  source: DestinationSource,
  reading: SecretReading,
): Promise<OpenDestination> {
  const { clock, random, s3 = {} } = source;
  const { bucket, prefix, endpoint, region } = spec;
  const first = await readS3Secret(spec.credentials, reading);
  const credentials = refreshed(first, clock, () => readS3Secret(spec.credentials, reading));
  try {
    const storage = s3Storage({ bucket, prefix, endpoint, region, credentials, ca: first.ca, clock, random, ...s3 });
    return {
      destination: openDestination(storage, { clock, random }),
      location: storage.description,
      [Symbol.dispose]: () => storage.close(),
    };
  } catch (error) {
    if (!hasCode(error, 'InvalidName')) throw error;
    throw new ReferenceFault('DestinationInvalid', `spec.destination.s3: ${asError(error).message}`, { cause: error });
  }
}

function refreshed(
  first: S3Secret,
  clock: Clock,
  read: () => Promise<S3Secret>,
): () => Promise<S3Secret['credentials']> {
  let [current, readAtMs] = [first, clock.monotonicMs()];
  return async () => {
    if (clock.monotonicMs() - readAtMs >= credentialsMaxAgeMs) {
      // A Secret that cannot be read for a moment must not fail an upload: the store decides about the old credentials.
      current = await read().catch(() => current);
      readAtMs = clock.monotonicMs();
    }
    return current.credentials;
  };
}
