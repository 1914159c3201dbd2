/** What a server takes: memory and disk, once it had time to give back what it does not need. */

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

/** A tenant of which nothing is asked is closed after half a minute, and looked for every half a minute. */
const closedAfterMs = 65_000;
const steadyMs = 5_000;
const steadyShare = 0.01;
const attemptsMax = 12;

/** Waits until everything idle is closed and memory does not fall any more. */
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

/** What the files take of the disk, which is not what they say their length is. */
async function diskBytes(folder: string): Promise<number> {
  let sum = 0;
  for (const name of await readdir(folder, { recursive: true })) {
    const { blocks } = await lstat(join(folder, name));
    sum += blocks * 512;
  }
  return sum;
}

/** Memory of a process with its share of what it shares with others: the same program several times is not counted twice. */
export function proportionalMiB(pid: number): number {
  const kib = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))![1];
  return Number(kib) / 1024;
}

/** Of one core, as a share, over some time in which nothing is asked. */
export async function idleCpu(pids: readonly number[], durationMs: number): Promise<number> {
  const [before, begun] = [cpuMs(pids), performance.now()];
  await sleep(durationMs);
  return (cpuMs(pids) - before) / (performance.now() - begun);
}
