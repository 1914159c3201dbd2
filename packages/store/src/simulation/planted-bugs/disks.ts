/** Disks that lie. */

import { chance } from '@hangar/core';
import type { Disk, Random } from '@hangar/core';
import { alteredDisk } from './altered.ts';

/** A sync that returns without having synced, now and then. */
export function lostSync(disk: Disk, random: Random): Disk {
  return alteredDisk(disk, {
    file: (file) => ({ sync: () => (chance(random, 0.1) ? Promise.resolve() : file.sync()) }),
  });
}

/** A rename whose directory is never synced: a crash brings the old file back. */
export function lostRename(disk: Disk): Disk {
  let renamed = false;
  return alteredDisk(disk, {
    rename: (from, to) => {
      renamed = true;
      return disk.rename(from, to);
    },
    syncDirectory: (directory) => (renamed ? Promise.resolve() : disk.syncDirectory(directory)),
  });
}
