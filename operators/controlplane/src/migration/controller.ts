/**
 * The controller of migrations: drives every ControlPlane whose record is not complete. The reconciler of ControlPlanes starts migrations
 * (`mode-reached.ts`); their number is bounded there.
 */

import { asError, hasCode, sleep } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import { aborted } from '@hangar/core';
import type { ClusterEvents, ControllerOptions, ReconcileContext, Request, Result } from '@hangar/runtime';
import { clusterPathOf, ControlPlane, managementNamespace } from '../api/index.ts';
import type { World } from '../control-plane/world.ts';
import type { DedicatedReplica, TenantReplica } from './contract.ts';
import { dedicatedPlaneSide } from './dedicated-plane-side.ts';
import { MigrationDriver } from './driver.ts';
import { namedWrites } from './named-writes.ts';
import { planeRecords } from './plane-records.ts';
import { nextAction } from './protocol.ts';
import { activeRecord } from './record.ts';
import { defaultTimings } from './timings.ts';
import type { MigrationTimings } from './timings.ts';

/** Both sides of the migrations of a platform. */
export interface MigrationPlatform {
  tenant(path: string): TenantReplica;
  dedicated(key: { readonly namespace: string; readonly name: string }): DedicatedReplica;
  /** Absent: the defaults. */
  readonly timings?: MigrationTimings | undefined;
}

export interface MigrationControllerOptions {
  readonly platform: MigrationPlatform;
  readonly world: Pick<World, 'hosted' | 'dedicated' | 'writes'>;
  readonly events: Pick<ClusterEvents, 'event'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Number of migrations at a time. */
export const migrationsMax = 8;

/** A reconcile takes passes in a row while the next one is due soon. */
const soonMs = 100;
const reconcileMsMax = 10_000;
const failurePauseMs = 500;

export function migrationController(options: MigrationControllerOptions): ControllerOptions<ControlPlane, [], []> {
  const drivers = new Map<string, MigrationDriver>();
  return {
    name: 'migration',
    for: {
      kind: ControlPlane,
      where: {
        create: (plane) => activeRecord(plane) !== undefined,
        update: (before, after) => activeRecord(after) !== undefined && isRelevant(before, after),
        delete: () => true,
      },
    },
    sources: [
      async (_, signal) => {
        await aborted(signal);
        await Promise.all(Array.from(drivers.values(), (driver) => driver.close()));
        drivers.clear();
      },
    ],
    concurrency: migrationsMax,
    reconcile: (request, context) => reconcile({ options, drivers }, request, context),
  };
}

/** Progress in the record is not: it is written by the passes themselves. */
function isRelevant(before: ControlPlane, after: ControlPlane): boolean {
  const seen = ({ metadata, status }: ControlPlane) => [
    metadata.generation,
    metadata.deletionTimestamp,
    status?.migration?.id,
  ];
  return (
    before.metadata.resourceVersion === after.metadata.resourceVersion || String(seen(before)) !== String(seen(after))
  );
}

async function reconcile(
  {
    options,
    drivers,
  }: { readonly options: MigrationControllerOptions; readonly drivers: Map<string, MigrationDriver> },
  { name }: Request,
  context: ReconcileContext,
): Promise<Result> {
  const { clock } = options;
  const { signal, log, cluster } = context;
  let driver = drivers.get(name);
  if (!driver) {
    const plane = cluster.cache.informer(ControlPlane).get({ name });
    if (!plane || !activeRecord(plane)) return {};
    driver = driverOf(options, plane, context);
    drivers.set(name, driver);
  }
  const startedMs = clock.monotonicMs();
  while (clock.monotonicMs() - startedMs < reconcileMsMax) {
    const nextMs = await driver.pass(signal).catch((error: unknown) => {
      // A concurrent write is not an error: the next pass reads it.
      if (hasCode(error, 'Conflict')) return soonMs / 10;
      if (signal.aborted) throw error;
      log.warn('pass of a migration failed, retrying', { error: asError(error) });
      return failurePauseMs;
    });
    if (nextMs === undefined) {
      drivers.delete(name);
      await driver.close();
      return {};
    }
    if (nextMs > soonMs) return { requeueAfterMs: nextMs };
    await sleep(clock, nextMs, signal);
  }
  return { requeueAfterMs: 1 };
}

function driverOf(
  { platform, world, events, clock }: MigrationControllerOptions,
  plane: ControlPlane,
  { client, cluster, log }: ReconcileContext,
): MigrationDriver {
  const name = plane.metadata.name!;
  const { apiReader } = cluster;
  const replica = platform.dedicated({ namespace: managementNamespace(name), name });
  return new MigrationDriver({
    records: planeRecords({ name, client, apiReader, events, writes: world.writes, clock }),
    tenant: namedWrites(platform.tenant(clusterPathOf(plane)), world.writes),
    dedicated: dedicatedPlaneSide({ name, replica, client, apiReader, world }),
    clock,
    log,
    timings: platform.timings ?? defaultTimings,
    decide: nextAction,
  });
}
