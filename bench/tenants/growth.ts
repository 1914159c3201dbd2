/**
 * From the first tenant to the ten thousandth in one server: the time until each answers, the idle cost of all of them, and the restart
 * time with them.
 */

import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { cpuMs } from '../server/processes.ts';
import { idleCpu, settled } from './footprint.ts';
import { Hangar } from './hangar.ts';
import { createTenants, get } from './load.ts';
import type { Created } from './load.ts';

export interface GrowthPoint {
  readonly tenants: number;
  readonly residentMiB: number;
  readonly diskMiB: number;
  /** Of the tenants created since the previous point. */
  readonly created: Created;
  /** CPU time of the server for each of them. */
  readonly createCpuMs: number;
}

export interface Growth {
  readonly points: readonly GrowthPoint[];
  /** One at a time, beside all the others. */
  readonly alone: Created;
  /** Of one core. */
  readonly idleCpu: number;
  readonly restartMs: number;
  /** From the start of the process to the first answer of a tenant. */
  readonly restartToTenantMs: number;
}

const atATime = 8;
const idleMs = 30_000;
const restarts = 3;

export async function growth(sizes: readonly number[], nodeFlags: readonly string[]): Promise<Growth> {
  return Hangar.use(nodeFlags, async (hangar) => {
    const points: GrowthPoint[] = [];
    let tenants = 0;
    for (const size of sizes) {
      const cpuBefore = cpuMs([hangar.pid]);
      const created = await createTenants(hangar, { from: tenants, count: size - tenants, workers: atATime });
      const createCpuMs = (cpuMs([hangar.pid]) - cpuBefore) / (size - tenants);
      tenants = size;
      const point = { tenants, ...(await settled(hangar)), created, createCpuMs };
      points.push(point);
      console.log(`  ${line(point)}`);
    }
    const share = await idleCpu([hangar.pid], idleMs);
    const keep = hangar.file('kubeconfigs');
    await mkdir(keep);
    const alone = await createTenants(hangar, { prefix: 'alone', count: 100, workers: 1 }, keep);
    return { points, alone, idleCpu: share, ...(await restarted(hangar, keep)) };
  });
}

function line({ tenants, residentMiB, diskMiB, created, createCpuMs }: GrowthPoint): string {
  const { all, object, issue, namespaces } = created;
  const parts = [object, issue, namespaces].map(({ p50Ms }) => p50Ms.toFixed(1)).join(' + ');
  return `${tenants} tenants: ${residentMiB.toFixed(0)} MiB, ${diskMiB.toFixed(1)} MiB on disk; created in p50 ${all.p50Ms.toFixed(1)} (${parts}), p99 ${all.p99Ms.toFixed(1)} ms, ${createCpuMs.toFixed(2)} ms of the server's CPU each`;
}

/** The median of several, because the first one finds the files as the last process left them. */
async function restarted(
  hangar: Hangar,
  kubeconfigs: string,
): Promise<Pick<Growth, 'restartMs' | 'restartToTenantMs'>> {
  const [name] = await readdir(kubeconfigs);
  const all: { restartMs: number; restartToTenantMs: number }[] = [];
  for (let round = 0; round < restarts; round++) {
    await hangar.stop();
    const restartMs = await hangar.start();
    const begun = performance.now();
    await get({ kubeconfig: join(kubeconfigs, name!), connections: 1, intervalMs: 0, durationMs: 0 });
    all.push({ restartMs, restartToTenantMs: restartMs + performance.now() - begun });
  }
  return all.sort((a, b) => a.restartMs - b.restartMs)[Math.floor(restarts / 2)]!;
}
