/** Checks the data directory: existence, ownership, permissions and free space. */

import { access, constants, stat, statfs } from 'node:fs/promises';
import { asError, hasCode } from '@hangar/core';
import { bytesText } from '../../terminal/figures.ts';
import { bad, doubtful, good } from '../finding.ts';
import type { Check, Finding } from '../finding.ts';
import { hangar } from '../../hints.ts';

const freeBytesMin = 100 * 1024 * 1024;
const freeBytesFew = 1024 * 1024 * 1024;

export const dataFolder: Check = {
  name: 'data directory',
  async look({ platform }) {
    const path = platform.dataFolder;
    if (path === undefined) return [doubtful('data directory: not checked', 'set --data-dir DIR to check it')];
    try {
      const found = await stat(path);
      if (!found.isDirectory())
        return [bad(`data directory ${path} is not a directory`, 'use another one: --data-dir DIR')];
    } catch (error) {
      if (hasCode(error, 'ENOENT'))
        return [doubtful(`data directory ${path} does not exist`, `create it with: ${hangar('up')}`)];
      return [bad(`data directory ${path}: ${asError(error).message}`, 'run as the owner of the directory')];
    }
    return [await rights(path), await secrecy(platform.kubeconfigs), await room(path)].flat();
  },
};

async function rights(path: string): Promise<Finding> {
  try {
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return good(`data directory ${path} can be read and written`);
  } catch {
    return bad(
      `data directory ${path} cannot be written`,
      'run as the owner of the directory, or change the owner: chown',
    );
  }
}

/** It opens everything. */
async function secrecy(kubeconfigs: readonly string[]): Promise<Finding[]> {
  if (process.platform === 'win32') return [];
  const found = await Promise.all(
    kubeconfigs.map(async (path) => ({ path, file: await stat(path).catch(() => undefined) })),
  );
  return found
    .filter(({ file }) => file && (file.mode & 0o077) !== 0)
    .map(({ path }) => bad(`${path} can be read by other users`, `restrict it: chmod 600 ${path}`));
}

async function room(path: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(path);
  const free = bavail * bsize;
  const text = `data directory has ${bytesText(free)} of free disk space`;
  if (free < freeBytesMin) return bad(text, 'free disk space: the store stops when the disk is full');
  return free < freeBytesFew ? doubtful(text, 'free disk space before the disk is full') : good(text);
}
