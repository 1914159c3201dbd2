/** A small dedicated disk, which can be filled, freed and made read-only: a tmpfs in a private mount namespace. */

import { spawnSync } from 'node:child_process';
import { closeSync, fstatSync, ftruncateSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export class SmallDisk {
  readonly #root: string;
  readonly #ballast: string;

  /** Only in a process with a private mount namespace. */
  constructor(root: string, megabytes: number) {
    this.#root = root;
    this.#ballast = join(root, 'ballast');
    mount('-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', root);
  }

  path(name: string): string {
    return join(this.#root, name);
  }

  /** Takes all free space except this much. */
  fill(leaveBytes = 0): void {
    const descriptor = openSync(this.#ballast, 'a');
    try {
      for (let chunk = 65_536; chunk >= 1;) {
        try {
          writeSync(descriptor, Buffer.alloc(chunk));
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
          chunk = Math.floor(chunk / 16);
        }
      }
      ftruncateSync(descriptor, Math.max(0, fstatSync(descriptor).size - leaveBytes));
    } finally {
      closeSync(descriptor);
    }
  }

  free(): void {
    rmSync(this.#ballast, { force: true });
  }

  readOnly(on: boolean): void {
    // `bind`: of this mount, not of the file system, which only root may change.
    mount('-o', `remount,bind,${on ? 'ro' : 'rw'}`, this.#root);
  }
}

function mount(...args: string[]): void {
  const { status, stderr, error } = spawnSync('mount', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`mount ${args.join(' ')}: ${error?.message ?? stderr}`);
}
