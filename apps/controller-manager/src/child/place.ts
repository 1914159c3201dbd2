/**
 * The folders of programs: `<work-dir>/children/<key>/`, with `record.json` and the working directory `home/` in it. Accessible to this
 * user only.
 */

import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Service } from '../contract.ts';
import { ProgramError } from './errors.ts';

const nameCharactersMax = 40;

/**
 * Returns the name of a folder: readable, safe and short for every cluster name, and unique per cluster and service.
 *
 *     ../Etc, controllers  →  controllers-_._etc-5d2f0c1a9b3e4f60
 */
export function keyOf(cluster: string, service: Service): string {
  const readable = cluster.toLowerCase().replaceAll(/[^a-z0-9.-]|(?<=\.)\./g, '_');
  const unique = createHash('sha256').update(`${service}\0${cluster}`).digest('hex').slice(0, 16);
  return `${service}-${readable.slice(0, nameCharactersMax)}-${unique}`;
}

export interface Folders {
  /** Contains all files of the program. */
  readonly root: string;
  /** Working directory of the program. */
  readonly home: string;
}

export const foldersOf = (children: string, key: string): Folders => {
  const root = join(children, key);
  return { root, home: join(root, 'home') };
};

/** Creates the folders with only these files in them. */
export async function makeFolders({ root, home }: Folders, files: Readonly<Record<string, string>>): Promise<void> {
  for (const name of Object.keys(files)) {
    if (name !== basename(name) || name === '' || name === '.' || name === '..' || name.includes('\0')) {
      throw new ProgramError('InvalidFile', `${JSON.stringify(name)} is not a valid file name`);
    }
  }
  await removeFolders(root);
  mkdirSync(root, { mode: 0o700 });
  mkdirSync(home, { mode: 0o700 });
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(home, name), content, { mode: 0o600, flag: 'wx' });
  }
}

/** Removes links in it without following them. */
export const removeFolders = (root: string): Promise<void> =>
  rm(root, { recursive: true, force: true, maxRetries: 2, retryDelay: 20 });
