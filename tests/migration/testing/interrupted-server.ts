/**
 * `hangar`, whose operator kills a program at a failpoint: this process, or the etcd or the kube-apiserver of the dedicated control plane. Each
 * file in the folder `kills` of the data directory arms one kill: its name is the failpoint, its content the program. It is moved to
 * `killed` before the kill.
 *
 *     node interrupted-server.ts up --data-dir=…
 */

import { readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { Failpoints } from '@hangar/core';
import { killProgram } from './programs-of.ts';

class KillingFailpoints extends Failpoints {
  readonly #folder: string;

  constructor(folder: string) {
    super();
    this.#folder = folder;
  }

  override hit(name: string): void {
    const file = join(this.#folder, 'kills', name);
    let victim: string;
    try {
      victim = readFileSync(file, 'utf8');
    } catch {
      return;
    }
    renameSync(file, join(this.#folder, 'killed', name));
    if (victim === 'hangar') process.kill(process.pid, 'SIGKILL');
    else killProgram(this.#folder, victim);
  }
}

const args = process.argv.slice(2);
const folder = args.find((arg) => arg.startsWith('--data-dir='))?.slice('--data-dir='.length);
if (args[0] === 'up' && folder !== undefined) {
  const { up } = await import('../../../apps/platform/src/up/up.ts');
  await up(args.slice(1), new KillingFailpoints(folder));
} else await import(new URL('../../../bin/hangar.js', import.meta.url).href);
