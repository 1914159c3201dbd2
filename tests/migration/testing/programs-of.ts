/** Processes of a platform, by `/proc`: the programs of the pods in its data directory. */

import { readdirSync, readFileSync } from 'node:fs';

/** `hangar`: the server, with the operators and the front door. Others: all instances in the pods of the platform. */
export type Victim = 'hangar' | 'etcd' | 'kube-apiserver';

/** Kills the programs of this name in the pods of the data directory. Returns their number. */
export function killProgram(dataFolder: string, name: string): number {
  const pids = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && isOf(dataFolder, name, pid));
  for (const pid of pids) process.kill(Number(pid), 'SIGKILL');
  return pids.length;
}

/** The parent of a program is the keeper of its container, whose command line has the folder of the pod. */
function isOf(dataFolder: string, name: string, pid: string): boolean {
  try {
    const [program = ''] = textOf(pid, 'cmdline').split('\0');
    if (program !== name) return false;
    const [, parent = ''] = /^PPid:\s+(\d+)$/m.exec(textOf(pid, 'status')) ?? [];
    return textOf(parent, 'cmdline').includes(`${dataFolder}/`);
  } catch {
    // It has exited meanwhile.
    return false;
  }
}

const textOf = (pid: string, file: string): string => readFileSync(`/proc/${pid}/${file}`, 'utf8');
