/** The Events of a migration: the differences between two records. Pure. */

import type { EventDetails } from '@hangar/runtime';
import type { MigrationStatus } from '../api/index.ts';

/** In the order in which they happened. */
export function migrationEvents(
  before: MigrationStatus | undefined,
  after: MigrationStatus | undefined,
): EventDetails[] {
  if (!after) return [];
  const { from, to, id } = after;
  if (before?.id !== id)
    return [{ reason: 'MigrationStarted', note: `migration from mode ${from} to mode ${to} started` }];
  const events: EventDetails[] = [];
  if (after.outcome !== before?.outcome) events.push(decided(after));
  else if (before?.attemptStartedAt !== undefined && after.attemptStartedAt === undefined && !after.outcome) {
    events.push({ type: 'Warning', reason: 'MigrationSwitchFailed', note: `${after.message ?? ''}: retrying later` });
  }
  if (after.step !== before?.step && after.step && !after.completedAt && after.outcome !== 'Aborted') {
    events.push({ reason: `Migration${after.step}`, note: notes[after.step] });
  }
  if (after.completedAt !== undefined && before?.completedAt === undefined) {
    events.push({ reason: 'MigrationCompleted', note: `migration from mode ${from} to mode ${to} is complete` });
  }
  return events;
}

function decided({ outcome, from, to, revision, message }: MigrationStatus): EventDetails {
  if (outcome === 'Switched') {
    return { reason: 'MigrationSwitched', note: `mode ${to} serves the control plane from revision ${revision} on` };
  }
  return { type: 'Warning', reason: 'MigrationAborted', note: `mode ${from} serves the control plane: ${message}` };
}

const notes = {
  Provision: 'creating the new side',
  CopyAndFollow: 'copying the data and following changes',
  Verify: 'comparing both sides',
  Switch: 'requests wait while the last changes are copied',
  Registrations: 'services connect to the new side',
  Decommission: 'the old data is kept during the grace period, then deleted',
} as const;
