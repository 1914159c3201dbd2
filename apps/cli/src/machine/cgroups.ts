/** The cgroup of a node, in every hierarchy of this machine. The kubelet and runc create the cgroups of pods in it. */

import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const root = '/sys/fs/cgroup';
const removalTriesMax = 100;

/**
 * Version 2 has one hierarchy; version 1 has one for each controller. A machine with version 1 can have the hierarchy of version 2 as well,
 * without controllers: runc creates the cgroups of containers there, too.
 */
async function hierarchies(): Promise<string[]> {
  if (existsSync(join(root, 'cgroup.controllers'))) return [root];
  const mounts = (await readFile('/proc/self/mounts', 'utf8')).split('\n').map((line) => line.split(' '));
  return mounts
    .filter(([, path, type]) => (type === 'cgroup' || type === 'cgroup2') && path!.startsWith(`${root}/`))
    .map(([, path]) => path!);
}

export async function createCgroup(name: string): Promise<void> {
  for (const hierarchy of await hierarchies()) {
    const cgroup = join(hierarchy, name);
    await mkdir(cgroup, { recursive: true });
    // A new cgroup of cpuset has no processors and no memory: no process can be put into it.
    for (const file of ['cpuset.cpus', 'cpuset.mems']) {
      if (hierarchy === root || !existsSync(join(cgroup, file))) continue;
      await writeFile(join(cgroup, file), await readFile(join(hierarchy, file)));
    }
  }
}

/** Removes the cgroup and those below it. Its processes have to be gone. */
export async function removeCgroup(name: string): Promise<void> {
  for (const hierarchy of await hierarchies()) await removeTree(join(hierarchy, name));
}

async function removeTree(cgroup: string): Promise<void> {
  for (let tries = 1; existsSync(cgroup); tries++) {
    const entries = await readdir(cgroup, { withFileTypes: true });
    for (const entry of entries) if (entry.isDirectory()) await removeTree(join(cgroup, entry.name));
    try {
      await rmdir(cgroup);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      // The kernel releases a cgroup some time after its last process ended.
      if (tries === removalTriesMax) throw error;
      await sleep(50);
    }
  }
}

/** Returns the names of the cgroups at the top of all hierarchies. */
export async function listCgroups(): Promise<Set<string>> {
  const names = new Set<string>();
  for (const hierarchy of await hierarchies()) {
    for (const entry of await readdir(hierarchy, { withFileTypes: true }))
      if (entry.isDirectory()) names.add(entry.name);
  }
  return names;
}
