/** Removes what earlier processes left that were killed before they could clean up. Only names of this folder's `names.ts` count. */

import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listCgroups, removeCgroup, run } from '@hangar/cli/machine';
import { ownedInterface, ownedName } from './names.ts';

/** The processes of a node need no removal: they end with the process that started them. */
export async function removeLeftovers(): Promise<void> {
  for (const name of await readdir('/sys/class/net')) {
    if (isLeft(ownedInterface, name)) await run('ip', 'link', 'delete', name).catch(() => {});
  }
  for (const name of await listCgroups()) if (isLeft(ownedName, name)) await removeCgroup(name).catch(() => {});
  for (const name of await readdir(tmpdir())) {
    if (isLeft(ownedName, name)) await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => {});
  }
}

function isLeft(pattern: RegExp, name: string): boolean {
  const pid = pattern.exec(name)?.[1];
  return pid !== undefined && !existsSync(`/proc/${pid}`);
}
