/** Checks that this machine can run nodes, before anything is created. */

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { onPath } from '../../../tools/executable.ts';
import { run } from './command.ts';

const programs = ['unshare', 'nsenter', 'ip', 'mount', 'umount', 'tar', 'hostname', 'sysctl'];
const filesystems = ['overlay', 'tmpfs', 'sysfs', 'proc'];

/** Rejects with a list of everything that is missing. */
export async function checkRequirements(): Promise<void> {
  const missing: string[] = [];
  if (process.platform !== 'linux') missing.push(`Linux (this is ${process.platform})`);
  else {
    if (process.getuid?.() !== 0) missing.push('root: nodes are namespaces with mounts, networks and cgroups');
    for (const program of programs) {
      if ((await onPath(program, { env: process.env })).length === 0) missing.push(`the program ${program} on PATH`);
    }
    const known = await readFile('/proc/filesystems', 'utf8');
    for (const name of filesystems) {
      if (!new RegExp(`\\t${name}$`, 'm').test(known)) missing.push(`the filesystem ${name} in the kernel`);
    }
    if (!existsSync('/sys/fs/cgroup')) missing.push('cgroups (version 1 or 2) at /sys/fs/cgroup');
    if (missing.length === 0) {
      const namespaces = ['--net', '--mount', '--pid', '--fork', '--uts', '--ipc', '--mount-proc', 'true'];
      await run('unshare', ...namespaces).catch((error: Error) => missing.push(`namespaces: ${error.message}`));
    }
  }
  if (missing.length > 0)
    throw new Error(`this machine cannot run the nodes of tests/nodes. Missing:\n- ${missing.join('\n- ')}`);
}
