/** Measures the idle cost of the set: the same server with the same tenants, with it and without. */

import { cpuMs } from '../server/processes.ts';
import { idleCpu, settled } from '../tenants/footprint.ts';
import { Hangar } from '../tenants/hangar.ts';
import { createTenants } from '../tenants/load.ts';

export interface IdleCost {
  readonly startMs: number;
  readonly residentMiB: number;
  /** Share of one core. */
  readonly cpu: number;
  /** Until it was idle. */
  readonly startCpuMs: number;
  /** Revisions of the store while idle. */
  readonly writes: number;
}

export interface Idle {
  readonly tenants: number;
  readonly bare: IdleCost;
  readonly whole: IdleCost;
}

const idleMs = 30_000;

export async function idle(tenants: number): Promise<Idle> {
  return Hangar.use([], async (hangar) => {
    await createTenants(hangar, { count: tenants });
    // Each in a fresh process: the cost of the creation is excluded.
    const bare = await measured(hangar, false);
    const whole = await measured(hangar, true);
    return { tenants, bare, whole };
  });
}

async function measured(hangar: Hangar, isWhole: boolean): Promise<IdleCost> {
  await hangar.stop();
  const startMs = await hangar.start({ isWhole });
  const { residentMiB } = await settled(hangar);
  const startCpuMs = cpuMs([hangar.pid]);
  const before = await revision(hangar);
  const cpu = await idleCpu([hangar.pid], idleMs);
  const writes = (await revision(hangar)) - before;
  return { startMs, residentMiB, cpu, startCpuMs, writes };
}

/** Revision of the store, which all control planes share. */
async function revision(hangar: Hangar): Promise<number> {
  const connection = await hangar.connect();
  try {
    const { body } = await connection.request('GET', '/api/v1/namespaces?limit=1');
    return Number((JSON.parse(body.toString()) as { metadata: { resourceVersion: string } }).metadata.resourceVersion);
  } finally {
    connection.close();
  }
}
