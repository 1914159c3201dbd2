/** Reads the resource usage of a process of this machine. */

import { cpuSeconds, residentBytes } from '@hangar/programs';

export interface ProcessUsage {
  readonly residentBytes: number;
  readonly cpuSeconds: number;
}

/** Undefined: there is no such process, or the system does not report it. A zombie has no memory. */
export function processUsage(pid: number): ProcessUsage | undefined {
  const [resident, cpu] = [residentBytes(pid), cpuSeconds(pid)];
  return resident === undefined || cpu === undefined ? undefined : { residentBytes: resident, cpuSeconds: cpu };
}
