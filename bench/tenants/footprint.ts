/** Measures the memory and disk usage of a server after it has settled. */

import { readFileSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMs, residentMiB } from '../server/processes.ts';
import type { Hangar } from './hangar.ts';

export interface Footprint {
  readonly residentMiB: number;
  readonly diskMiB: number;
}

/** An idle tenant is closed after half a minute, checked every half a minute. */
const closedAfterMs = 65_000;
const steadyMs = 5_000;
const steadyShare = 0.01;
const attemptsMax = 12;

/** Waits until all idle tenants are closed and memory no longer falls. */
export async function settled(hangar: Hangar): Promise<Footprint> {
  await sleep(closedAfterMs);
  let before = residentMiB([hangar.pid]);
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    await sleep(steadyMs);
    const now = residentMiB([hangar.pid]);
    if (before - now < before * steadyShare) break;
    before = now;
  }
  return footprint(hangar);
}

export async function footprint(hangar: Hangar): Promise<Footprint> {
  return { residentMiB: residentMiB([hangar.pid]), diskMiB: (await diskBytes(hangar.dataFolder)) / 1024 ** 2 };
}

/** Allocated size of the files, which differs from their length. */
async function diskBytes(folder: string): Promise<number> {
  let sum = 0;
  for (const name of await readdir(folder, { recursive: true })) {
    const { blocks } = await lstat(join(folder, name));
    sum += blocks * 512;
  }
  return sum;
}

/** Proportional set size: shared memory of the same program is not counted repeatedly. */
export function proportionalMiB(pid: number): number {
  const kib = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))![1];
  return Number(kib) / 1024;
}

/** Share of one core while idle. */
export async function idleCpu(pids: readonly number[], durationMs: number): Promise<number> {
  const [before, begun] = [cpuMs(pids), performance.now()];
  await sleep(durationMs);
  return (cpuMs(pids) - before) / (performance.now() - begun);
}
