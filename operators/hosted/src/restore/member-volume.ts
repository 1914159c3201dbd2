/**
 * The volume of an etcd member during a restore. The programs `hangar etcd …` run in pods that mount the volume of a member that is stopped:
 *
 *     member/                    the data that etcd uses
 *     restore-UID/snapshot.db    the received snapshot           receive
 *     restore-UID/data/member/   the data that etcdutl made      verify
 *     before-UID/                the replaced data               activate, revert, clean
 *
 * Data is only renamed until the restored data is in use and compared, so that an interruption at any point loses nothing. Each operation
 * can be repeated, and finds what an interrupted one left.
 */

import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CodedError, hasCode } from '@hangar/core';
import { readDatabaseFile } from '@hangar/store/etcd-snapshot';

/** `NotRestored`: the folder of the restore has no data. `Different`: the restored data is not that of the backup. */
export class MemberVolumeError extends CodedError<'NotRestored' | 'Different' | 'InvalidRestore'> {}

export interface MemberVolume {
  /** Data directory of etcd. */
  readonly folder: string;
  /** UID of the restore. */
  readonly restore: string;
}

interface Paths {
  readonly restore: string;
  readonly snapshot: string;
  readonly data: string;
  readonly restored: string;
  readonly before: string;
  readonly member: string;
}

/** The folder that etcdutl fills. It must not exist before. */
export const restoredDataFolder = (volume: MemberVolume): string => pathsOf(volume).data;
export const snapshotPath = (volume: MemberVolume): string => pathsOf(volume).snapshot;

/** The UID becomes a part of paths, so it must not have slashes or dots. */
function pathsOf({ folder, restore: uid }: MemberVolume): Paths {
  if (!/^[A-Za-z0-9-]{1,64}$/.test(uid)) {
    throw new MemberVolumeError('InvalidRestore', `the UID ${JSON.stringify(uid)} of the restore is not valid`);
  }
  const restore = join(folder, `restore-${uid}`);
  const data = join(restore, 'data');
  return {
    restore,
    snapshot: join(restore, 'snapshot.db'),
    data,
    restored: join(data, 'member'),
    before: join(folder, `before-${uid}`),
    member: join(folder, 'member'),
  };
}

/** Creates the folder of the restore without data of an interrupted run of etcdutl. */
export async function prepareVolume(volume: MemberVolume): Promise<void> {
  const { restore, data } = pathsOf(volume);
  await mkdir(restore, { recursive: true, mode: 0o700 });
  await rm(data, { recursive: true, force: true });
}

export interface ExpectedContent {
  readonly contentDigest: string;
  readonly entries: number;
  /** The revision of the restored data is not lower. */
  readonly revision: number;
}

/** Compares the data that etcdutl made with the backup. Throws `NotRestored`, `Different`, or `StorageDamaged`. */
export async function verifyVolume(volume: MemberVolume, expected: ExpectedContent): Promise<void> {
  const { restored, snapshot } = pathsOf(volume);
  if (!(await exists(restored))) throw new MemberVolumeError('NotRestored', `${restored} does not exist`);
  const { contentDigest, entries, revision } = await readDatabaseFile(join(restored, 'snap', 'db'));
  if (contentDigest !== expected.contentDigest || entries !== expected.entries || revision < expected.revision) {
    const found = `${entries} objects with digest ${contentDigest} at revision ${revision}`;
    const wanted = `${expected.entries} objects with digest ${expected.contentDigest} at revision ${expected.revision} or higher`;
    throw new MemberVolumeError('Different', `the restored data has ${found}, but the backup has ${wanted}`);
  }
  await rm(snapshot, { force: true });
}

/** Puts the restored data in the place of the current data, which stays in `before-UID`. Throws `NotRestored`. */
export async function activateVolume(volume: MemberVolume): Promise<void> {
  const { restore, restored, before, member } = pathsOf(volume);
  if (await exists(restored)) {
    // An interrupted run has renamed the current data already.
    if ((await exists(member)) && !(await exists(before))) await rename(member, before);
    await rename(restored, member);
    await syncFolder(volume.folder);
  } else if (await exists(restore)) {
    // The restored data was moved before an interruption.
    if (!(await exists(member))) throw new MemberVolumeError('NotRestored', `${restored} does not exist`);
  } else if (!(await exists(member))) {
    throw new MemberVolumeError('NotRestored', `${volume.folder} has no data of restore ${volume.restore}`);
  }
  await rm(restore, { recursive: true, force: true });
}

/** Puts the replaced data back. Does nothing if there is none. */
export async function revertVolume(volume: MemberVolume): Promise<void> {
  const { restore, before, member } = pathsOf(volume);
  if (await exists(before)) {
    await rm(member, { recursive: true, force: true });
    await rename(before, member);
    await syncFolder(volume.folder);
  }
  await rm(restore, { recursive: true, force: true });
}

/** Removes the replaced data, and what is left of the restore. */
export async function cleanVolume(volume: MemberVolume): Promise<void> {
  const { restore, before } = pathsOf(volume);
  await rm(before, { recursive: true, force: true });
  await rm(restore, { recursive: true, force: true });
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}

/** Makes renames of entries durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
