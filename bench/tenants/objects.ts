/** Tenants that are used: objects in each, and watches in some. */

import { cpuMs } from '../server/processes.ts';
import { footprint, idleCpu, settled } from './footprint.ts';
import { Hangar } from './hangar.ts';
import { createTenants, Watches, write } from './load.ts';
import type { Latency } from './load.ts';

export interface ObjectsPoint {
  readonly tenants: number;
  readonly residentMiB: number;
  readonly diskMiB: number;
  readonly writes: Latency;
  readonly writeCpuMs: number;
}

export interface Objects {
  readonly objectsEach: number;
  readonly points: readonly ObjectsPoint[];
  readonly watchedTenants: number;
  readonly watches: number;
  readonly watchingMiB: number;
  readonly watchingCpu: number;
  readonly eventsExpected: number;
  readonly events: Latency;
  /** Of the server, for each event that reaches a watch. */
  readonly eventCpuMs: number;
}

const objectsEach = 50;
const watchesEach = 10;
const idleMs = 10_000;

export async function objects(nodeFlags: readonly string[], sizes: readonly number[]): Promise<Objects> {
  return Hangar.use(nodeFlags, async (hangar) => {
    const points: ObjectsPoint[] = [];
    let tenants = 0;
    for (const size of sizes) {
      points.push(await filled(hangar, tenants, size));
      tenants = size;
    }
    const watchedTenants = Math.max(1, tenants / 10);
    const watches = await Watches.open(hangar, watchedTenants, watchesEach);
    try {
      // Once before it counts.
      await watches.write();
      const watchingCpu = await idleCpu([hangar.pid], idleMs);
      const cpuBefore = cpuMs([hangar.pid]);
      const { expected, events } = await watches.write();
      const eventCpuMs = (cpuMs([hangar.pid]) - cpuBefore) / events.count;
      const { residentMiB: watchingMiB } = await footprint(hangar);
      return {
        objectsEach,
        points,
        watchedTenants,
        watches: watchedTenants * watchesEach,
        watchingMiB,
        watchingCpu,
        eventsExpected: expected,
        events,
        eventCpuMs,
      };
    } finally {
      await watches.close();
    }
  });
}

async function filled(hangar: Hangar, from: number, to: number): Promise<ObjectsPoint> {
  const range = { from, count: to - from };
  await createTenants(hangar, range);
  const cpuBefore = cpuMs([hangar.pid]);
  const { answered } = await write(hangar, range, [
    {
      method: 'POST',
      path: '/api/v1/namespaces/default/configmaps',
      body: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'object-{n}' },
        data: { filler: 'x'.repeat(1024) },
      },
      status: 201,
      times: objectsEach,
    },
  ]);
  const writeCpuMs = (cpuMs([hangar.pid]) - cpuBefore) / answered.count;
  const point = { tenants: to, ...(await settled(hangar)), writes: answered, writeCpuMs };
  console.log(
    `  ${to} tenants with ${objectsEach} objects each: ${point.residentMiB.toFixed(0)} MiB, ${point.diskMiB.toFixed(0)} MiB on disk; a create took p50 ${answered.p50Ms.toFixed(1)}, p99 ${answered.p99Ms.toFixed(1)} ms, ${writeCpuMs.toFixed(2)} ms of the server's CPU`,
  );
  return point;
}
