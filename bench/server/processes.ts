/** Measures the CPU time and memory of a process, from /proc. */

import { readFileSync, readdirSync } from 'node:fs';

/** The kernel's clock ticks, 100 a second on every Linux that Node runs on. */
const tickMs = 10;

/** CPU time so far of all threads, in milliseconds. */
export function cpuMs(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
    return sum + (Number(fields[11]) + Number(fields[12])) * tickMs;
  }, 0);
}

/** CPU time so far of the threads that still exist, in milliseconds with a resolution of nanoseconds. */
export function threadsCpuMs(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const threads = readdirSync(`/proc/${pid}/task`).map((thread) =>
      runtimeNs(`/proc/${pid}/task/${thread}/schedstat`),
    );
    return sum + threads.reduce((total, ns) => total + ns, 0) / 1e6;
  }, 0);
}

/** Returns 0 if the thread has exited since it was listed. */
function runtimeNs(path: string): number {
  try {
    return Number(readFileSync(path, 'utf8').split(' ')[0]);
  } catch {
    return 0;
  }
}

/** Resident memory, in MiB. */
export function residentMiB(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1];
    return sum + Number(kib) / 1024;
  }, 0);
}
