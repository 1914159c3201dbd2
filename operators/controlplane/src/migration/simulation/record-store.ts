/** The ControlPlane in the management plane: the wanted mode and the record, with a resourceVersion. */

import { CodedError } from '@hangar/core';
import type { ControlPlaneMode } from '../../api/index.ts';
import type { MigratingPlane, MigrationRecords } from '../driver.ts';
import type { MigrationRecord } from '../record.ts';
import type { Link } from './link.ts';

export const pauseMsMax = 3_000;
export const gracePeriodMs = 20_000;

export interface StoredPlane {
  readonly wanted: ControlPlaneMode;
  readonly record: MigrationRecord | undefined;
  readonly resourceVersion: number;
}

export type VersionedPlane = MigratingPlane & { readonly resourceVersion: number };

export class RecordStore {
  plane: StoredPlane = { wanted: 'Virtual', record: undefined, resourceVersion: 1 };
  onWrite: (record: MigrationRecord) => void = () => {};

  get serving(): ControlPlaneMode {
    const { record } = this.plane;
    if (!record) return 'Virtual';
    return record.outcome === 'Switched' ? record.to : record.from;
  }

  want(wanted: ControlPlaneMode): void {
    this.plane = { ...this.plane, wanted, resourceVersion: this.plane.resourceVersion + 1 };
  }

  write(record: MigrationRecord, resourceVersion: number): StoredPlane {
    if (resourceVersion !== this.plane.resourceVersion)
      throw new CodedError('Conflict', 'the ControlPlane has changed');
    this.onWrite(record);
    return (this.plane = { ...this.plane, record, resourceVersion: resourceVersion + 1 });
  }

  /** As one operator reaches it. */
  through(link: Link): MigrationRecords<VersionedPlane> {
    const asMigrating = ({ wanted, record, resourceVersion }: StoredPlane): VersionedPlane | undefined =>
      record === undefined || record.completedAt !== undefined
        ? undefined
        : { wanted, record, resourceVersion, pauseMsMax, gracePeriodMs };
    return {
      read: (signal) => link.call('records', signal, () => asMigrating(this.plane)),
      write: (plane, record, signal) =>
        link.call('records', signal, () => asMigrating(this.write(record, plane.resourceVersion))!),
    };
  }
}
