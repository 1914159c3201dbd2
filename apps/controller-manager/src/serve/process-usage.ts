/** What a process of this machine uses, as the system tells. */

import { readFileSync } from 'node:fs';

export interface ProcessUsage {
  readonly residentBytes: number;
  readonly cpuSeconds: number;
}

/** Of `/proc/PID/stat`: the kernel shows it in these, whatever it counts with. */
const ticksPerSecond = 100;

/** Undefined: there is none, or the system does not tell. */
export function processUsage(pid: number): ProcessUsage | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    // After the name, which may have blanks and parentheses in it, come the state and what follows.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const resident = /^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1];
    // What has ended and was not waited for has no memory any more.
    if (resident === undefined) return undefined;
    const cpuSeconds = (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
    return { residentBytes: Number(resident) * 1024, cpuSeconds };
  } catch {
    return undefined;
  }
}
