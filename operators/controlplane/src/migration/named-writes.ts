/**
 * Names of the writes of a migration, so that each has a failpoint on either side: `controlplane.migration-hold.before`. Pure, except for
 * the calls that it passes on.
 */

import type { MigrationStatus } from '../api/index.ts';
import type { Writes } from '../control-plane/writes.ts';
import type { TenantReplica } from './contract.ts';

/** Returns the name of a change of the record. */
export function recordWriteName(before: MigrationStatus | undefined, after: MigrationStatus): string {
  if (after.completedAt !== undefined) return 'migration-complete';
  if (before?.outcome === undefined && after.outcome !== undefined) {
    return after.outcome === 'Switched' ? 'migration-switched' : 'migration-aborted';
  }
  if (before?.step === 'Switch' && after.outcome === 'Switched' && after.step !== 'Switch') return 'migration-served';
  const wasAttempt = before?.attemptStartedAt !== undefined;
  const isAttempt = after.attemptStartedAt !== undefined;
  if (wasAttempt === isAttempt) {
    const { step = 'Provision' } = after;
    return before?.step === step ? 'migration-progress' : `migration-${stepNames[step]}`;
  }
  return isAttempt ? 'migration-attempt' : 'migration-attempt-end';
}

const stepNames = {
  Provision: 'provision',
  CopyAndFollow: 'copy-and-follow',
  Verify: 'verify',
  Switch: 'switch',
  Registrations: 'registrations',
  Decommission: 'decommission',
} as const;

/** Returns a tenant whose changes have names. */
export const namedWrites = (tenant: TenantReplica, writes: Writes): TenantReplica => ({
  state: (signal) => tenant.state(signal),
  keys: (signal) => tenant.keys(signal),
  frames: (signal, options) => tenant.frames(signal, options),
  digest: (signal) => tenant.digest(signal),
  hold: (id, signal) => writes.make('migration-hold', () => tenant.hold(id, signal)),
  release: (id, signal) => writes.make('migration-release', () => tenant.release(id, signal)),
  passTo: (id, remote, signal) => writes.make('migration-pass-to', () => tenant.passTo(id, remote, signal)),
  startReceiving: (id, signal) => writes.make('migration-start-receiving', () => tenant.startReceiving(id, signal)),
  receive: (id, frames, signal) => writes.make('migration-receive', () => tenant.receive(id, frames, signal)),
  serveReceived: (id, revision, signal) =>
    writes.make('migration-serve-received', () => tenant.serveReceived(id, revision, signal)),
  deleteData: (id, signal) => writes.make('migration-delete-data', () => tenant.deleteData(id, signal)),
});
