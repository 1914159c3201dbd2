/**
 * Folders for backups: `ROOT/NAMESPACE/NAME`. An administrator chooses the root, and users choose only the name. The root must exist: a
 * backup must not land below the mount point of a volume that is not mounted.
 */

import { lstat, mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { asError, hasCode } from '@hangar/core';
import { ReferenceFault } from '../errors.ts';

const segment = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

export interface FolderRequest {
  /** Absent: the operator has no folder for backups. */
  readonly root: string | undefined;
  readonly namespace: string;
  readonly name: string;
}

/** Returns the path of the folder, which exists then. Symbolic links are refused. Throws `FolderNotAvailable` or `DestinationInvalid`. */
export async function backupFolder({ root, namespace, name }: FolderRequest): Promise<string> {
  if (root === undefined) {
    throw notAvailable(
      'this operator stores no backups in folders: use spec.destination.s3, or start it with --backup-folder',
    );
  }
  for (const one of [namespace, name]) {
    if (segment.test(one)) continue;
    throw new ReferenceFault(
      'DestinationInvalid',
      `${JSON.stringify(one)} is not a valid name of a folder: use lower case letters, digits and "-"`,
    );
  }
  let path = await realpath(root).catch((error: unknown) => {
    throw notAvailable(`the folder for backups of this operator cannot be used: ${asError(error).message}`, error);
  });
  for (const one of [namespace, name]) await ensureFolder((path = join(path, one)));
  return path;
}

async function ensureFolder(path: string): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
    if (!hasCode(error, 'EEXIST')) throw notAvailable(`cannot create a folder: ${asError(error).message}`, error);
  });
  // Not `stat`: a symbolic link leads outside of the root.
  if ((await lstat(path)).isDirectory()) return;
  throw notAvailable(`${JSON.stringify(path)} is not a folder; remove it`);
}

const notAvailable = (message: string, cause?: unknown): ReferenceFault =>
  new ReferenceFault('FolderNotAvailable', message, { cause });
