/**
 * The folders of programs: `<work-dir>/children/<key>/`, with `record.json` and the program's own folder `home/` in it. All of it only
 * this user's.
 */

import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Service } from '../contract.ts';
import { ProgramError } from './errors.ts';

const nameCharactersMax = 40;

/**
 * A name of a folder: readable, harmless and short whatever the cluster is called, and never that of another cluster or service.
 *
 *     ../Etc, controllers  →  controllers-_._etc-5d2f0c1a9b3e4f60
 */
export function keyOf(cluster: string, service: Service): string {
  const readable = cluster.toLowerCase().replaceAll(/[^a-z0-9.-]|(?<=\.)\./g, '_');
  const unique = createHash('sha256').update(`${service}\0${cluster}`).digest('hex').slice(0, 16);
  return `${service}-${readable.slice(0, nameCharactersMax)}-${unique}`;
}

export interface Folders {
  /** Everything of the program. */
  readonly root: string;
  /** What the program sees. */
  readonly home: string;
}

export const foldersOf = (children: string, key: string): Folders => {
  const root = join(children, key);
  return { root, home: join(root, 'home') };
};

/** There is nothing but the files then. */
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

/** Links in it are removed, not followed. */
export const removeFolders = (root: string): Promise<void> =>
  rm(root, { recursive: true, force: true, maxRetries: 2, retryDelay: 20 });
