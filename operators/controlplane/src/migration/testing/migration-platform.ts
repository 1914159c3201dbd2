/** Both sides of migrations as models, for the operator of a test platform: the calls succeed at once. */

import { seededRandom, systemClock } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import type { MigrationPlatform } from '../controller.ts';
import { DedicatedModel } from '../simulation/dedicated-model.ts';
import { goodLink, Link } from '../simulation/link.ts';
import { dedicatedSide, tenantSide } from '../simulation/sides.ts';
import { TenantModel } from '../simulation/tenant-model.ts';
import { defaultTimings } from '../timings.ts';

export interface TestMigrations {
  readonly platform: MigrationPlatform;
  readonly tenant: TenantModel;
  readonly dedicated: DedicatedModel;
  /** Whether the dedicated side refuses to be seeded. */
  isRefused: boolean;
  /** Thrown by the deletion of the old data of the tenant. */
  deletionError: Error | undefined;
}

/** For one control plane. */
export function testMigrations(): TestMigrations {
  const tenant = new TenantModel(() => {});
  const dedicated = new DedicatedModel(() => {});
  tenant.commit(tenant.identity, 'a', '1');
  const link = new Link(new Scheduler(seededRandom(1)), seededRandom(1), { quality: goodLink, effectMsMax: 0 });
  link.isDirect = true;
  const side = dedicatedSide(link, dedicated, systemClock, { startMs: 1 });
  const test: TestMigrations = {
    tenant,
    dedicated,
    isRefused: false,
    deletionError: undefined,
    platform: {
      timings: { ...defaultTimings, settleMs: 50, pollMs: 20 },
      tenant: () => {
        const all = tenantSide(link, tenant, systemClock);
        const deleteData: typeof all.deleteData = async (id, signal) => {
          if (test.deletionError) throw test.deletionError;
          await all.deleteData(id, signal);
        };
        return { ...all, deleteData };
      },
      dedicated: () => ({
        ...side.replica,
        async seed(options, signal) {
          if (test.isRefused) throw new Error('the image cannot be pulled');
          await side.prepare(options.id, signal);
          return side.replica.seed(options, signal);
        },
      }),
    },
  };
  return test;
}
