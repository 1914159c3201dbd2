/**
 * Writes files that only their owner may read, atomically: to a temporary file beside the old one, then by renaming. Anything but a regular
 * file (a pipe, `/dev/stdout`) is written to directly.
 */

import { randomBytes } from 'node:crypto';
import { lstat, mkdir, open, realpath, rename, rm, writeFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { asError, hasCode } from '@hangar/core';
import { failed } from '../errors.ts';
import { quoted } from '../terminal/plain-text.ts';

export async function writeSecretFile(path: string, content: string | Uint8Array): Promise<void> {
  await writeSecretFileBy(path, (file) => file.writeFile(content));
}

/**
 * Like `writeSecretFile`, but the caller writes the content. Rejects with `Failed` when the file cannot be written, and with the error of
 * `write`.
 */
export async function writeSecretFileBy(path: string, write: (file: FileHandle) => Promise<void>): Promise<void> {
  const target = await targetOf(path);
  if (!target.isReplaced) {
    const file = await open(path, 'w').catch((error: unknown) => Promise.reject(unwritable(path, error)));
    try {
      return await write(file);
    } finally {
      await file.close();
    }
  }
  const partial = `${target.path}.${randomBytes(6).toString('hex')}.partial`;
  // Fails if the path exists, also if it is a planted link.
  const file = await open(partial, 'wx', 0o600).catch((error: unknown) => Promise.reject(unwritable(path, error)));
  try {
    try {
      await write(file);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(partial, target.path).catch((error: unknown) => Promise.reject(unwritable(path, error)));
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

/** Follows a link: users keep their files elsewhere. */
async function targetOf(path: string): Promise<{ path: string; isReplaced: boolean }> {
  try {
    const real = await realpath(path);
    const found = await lstat(real);
    if (found.isDirectory()) throw failed(`${quoted(path)} is a directory`, { next: 'use a file' });
    return { path: real, isReplaced: found.isFile() };
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return { path, isReplaced: true };
    if (hasCode(error, 'Failed')) throw error;
    throw unwritable(path, error);
  }
}

const unwritable = (path: string, cause: unknown): Error =>
  failed(`${quoted(path)} cannot be written: ${asError(cause).message}`, { cause });

/** Runs while holding `<path>.lock`, which kubectl respects, too. */
export async function whileLocked<T>(
  path: string,
  { attempts, pause }: { readonly attempts: number; readonly pause: () => Promise<void> },
  work: () => Promise<T>,
): Promise<T> {
  const lock = `${path}.lock`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch((error: unknown) =>
    Promise.reject(unwritable(path, error)),
  );
  for (let left = attempts; ; left--) {
    try {
      await writeFile(lock, '', { flag: 'wx', mode: 0o600 });
      break;
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw unwritable(path, error);
      if (left <= 1) {
        throw failed(`${quoted(path)} is locked by another process`, {
          next: `if no other process uses it, remove the stale lock: rm ${lock}`,
          cause: error,
        });
      }
      await pause();
    }
  }
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}
