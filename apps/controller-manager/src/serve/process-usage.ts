/** What a process of this machine uses, as the system tells. */

import { cpuSeconds, residentBytes } from '../child/processes.ts';

export interface ProcessUsage {
  readonly residentBytes: number;
  readonly cpuSeconds: number;
}

/** Undefined: there is none, or the system does not tell. What has ended and was not waited for has no memory any more. */
export function processUsage(pid: number): ProcessUsage | undefined {
  const [resident, cpu] = [residentBytes(pid), cpuSeconds(pid)];
  return resident === undefined || cpu === undefined ? undefined : { residentBytes: resident, cpuSeconds: cpu };
}
