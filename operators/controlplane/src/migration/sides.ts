/** The dedicated side of a migration, with the lifetime of its HostedControlPlane. */

import type { DedicatedReplica, MigrationId } from './contract.ts';

export interface DedicatedSide {
  readonly replica: DedicatedReplica;
  /** Creates the HostedControlPlane of the migration, if it does not exist. Rejects with `Conflict` if it belongs to another migration. */
  prepare(id: MigrationId, signal: AbortSignal): Promise<void>;
  /** Reports whether a HostedControlPlane exists, also while it is being deleted. */
  exists(signal: AbortSignal): Promise<boolean>;
  /** Deletes the HostedControlPlane with all data. Resolves before its deletion is complete. */
  delete(signal: AbortSignal): Promise<void>;
}
