/** Many virtual control planes: all are backed up, some are restored, beside a client of another one. */

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Hangar } from '../tenants/hangar.ts';
import { createTenants, get, tenantName, write } from '../tenants/load.ts';
import type { Got } from '../tenants/load.ts';
import { work } from './work.ts';
import type { Fleet } from './worker.ts';

export interface FleetResult extends Fleet {
  readonly serverGrowthMiB: number;
  readonly quietP99Ms: number;
  readonly p99Ms: number;
}

/** A regular user: four connections, each a get every ten milliseconds. */
const working = { connections: 4, intervalMs: 10 };
const filler = 'x'.repeat(1024);

export function fleet(count: number, restored: number, measuredMs: number): Promise<FleetResult> {
  return Hangar.use([], async (hangar) => {
    const [keep, folder] = [hangar.file('kubeconfigs'), hangar.file('backups')];
    for (const one of [keep, folder]) await mkdir(one);
    await createTenants(hangar, { prefix: 'neighbour', count: 1 }, keep);
    await createTenants(hangar, { count });
    await write(hangar, { count }, [
      {
        method: 'POST',
        path: '/api/v1/namespaces/default/configmaps',
        body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'object-{n}' }, data: { filler } },
        status: 201,
        times: 10,
      },
    ]);
    const neighbour = (durationMs: number): Promise<Got> =>
      get({ kubeconfig: join(keep, tenantName(0, 'neighbour')), ...working, durationMs });
    await neighbour(measuredMs);
    const quiet = await neighbour(measuredMs);
    const backingUp = work<Fleet>(hangar, 'fleet', folder, String(count), String(restored));
    const disturbed = await neighbour(measuredMs);
    const { result, serverGrowthMiB } = await backingUp;
    return { ...result, serverGrowthMiB, quietP99Ms: quiet.answered.p99Ms, p99Ms: disturbed.answered.p99Ms };
  });
}
