/** Measures the cost of idle processes, from /proc. */

import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMs, residentMiB } from '../server/processes.ts';
import { proportionalMiB } from '../tenants/footprint.ts';
import type { Cost } from './row.ts';

/** Measures each group of processes over the same time. */
export async function idleCosts(groups: readonly (readonly number[])[], durationMs: number): Promise<Cost[]> {
  const [before, begunMs] = [groups.map(cpuMs), performance.now()];
  await sleep(durationMs);
  const tookMs = performance.now() - begunMs;
  return groups.map((pids, at) => ({
    processes: pids.length,
    residentMiB: residentMiB(pids),
    proportionalMiB: pids.reduce((sum, pid) => sum + proportionalMiB(pid), 0),
    cpu: (cpuMs(pids) - before[at]!) / tookMs,
  }));
}
