/** The record of a migration in the status of its ControlPlane. */

import { find } from '@hangar/client';
import type { Client } from '@hangar/client';
import type { Clock } from '@hangar/core';
import { isBeingDeleted } from '@hangar/runtime';
import type { ClusterEvents } from '@hangar/runtime';
import { ControlPlane } from '../api/index.ts';
import type { MigrationStatus } from '../api/index.ts';
import type { Writes } from '../control-plane/writes.ts';
import type { MigratingPlane, MigrationRecords } from './driver.ts';
import { migrationEvents } from './events.ts';
import { recordWriteName } from './named-writes.ts';
import { activeRecord } from './record.ts';
import type { MigrationRecord } from './record.ts';
import { stepConditions } from './step-conditions.ts';

export interface PlaneRecordsOptions {
  readonly name: string;
  readonly client: Client;
  /** The management plane itself. */
  readonly apiReader: Pick<Client, 'get' | 'list'>;
  readonly events: Pick<ClusterEvents, 'event'>;
  readonly writes: Writes;
  readonly clock: Clock;
}

export interface StoredPlane extends MigratingPlane {
  readonly object: ControlPlane;
}

const pauseSecondsDefault = 5;
const graceSecondsDefault = 300;

export function planeRecords(options: PlaneRecordsOptions): MigrationRecords<StoredPlane> {
  const { name, client, apiReader, events, writes, clock } = options;
  return {
    async read(signal) {
      const object = await find(apiReader, ControlPlane, { name }, { signal });
      return object && migrating(object);
    },
    async write({ object }, record, signal) {
      const before = object.status?.migration;
      const next = { ...record, conditions: stepConditions(before?.conditions, record, clock) };
      const { uid, resourceVersion } = object.metadata;
      const body = { metadata: { uid, resourceVersion }, status: { migration: replacing(before, next) } };
      const written = await writes.make(recordWriteName(before, next), () =>
        client.status.patch(ControlPlane, { name }, { type: 'merge', body }, { signal }),
      );
      for (const event of migrationEvents(before, next)) events.event(written, event);
      return asMigrating(written, next);
    },
  };
}

function migrating(object: ControlPlane): StoredPlane | undefined {
  const record = activeRecord(object);
  return record && asMigrating(object, record);
}

/** A control plane that is being deleted aborts its migration, or completes it without a grace period. */
function asMigrating(object: ControlPlane, record: MigrationRecord): StoredPlane {
  const { mode = 'Virtual', migration } = object.spec ?? {};
  return {
    object,
    record,
    wanted: isBeingDeleted(object) ? record.from : mode,
    pauseMsMax: (migration?.pauseSecondsMax ?? pauseSecondsDefault) * 1_000,
    gracePeriodMs: (migration?.gracePeriodSeconds ?? graceSecondsDefault) * 1_000,
  };
}

/** Returns a merge patch that leaves nothing of an earlier record. */
export function replacing(before: MigrationStatus | undefined, after: MigrationStatus): MigrationStatus {
  const removed = Object.keys(before ?? {}).filter((field) => !(field in after));
  return { ...Object.fromEntries(removed.map((field) => [field, null])), ...after };
}
