/** The conditions of a migration, one for each step that has started. Pure. */

import { setConditions } from '@hangar/runtime';
import type { NewCondition } from '@hangar/runtime';
import type { Clock } from '@hangar/core';
import type { Condition, MigrationStep } from '../api/index.ts';
import type { MigrationRecord } from './record.ts';

export const migrationSteps: readonly MigrationStep[] = [
  'Provision',
  'CopyAndFollow',
  'Verify',
  'Switch',
  'Registrations',
  'Decommission',
];

/** A step before the current one is complete. An attempt that failed returns to an earlier step: later ones are not complete again. */
export function stepConditions(
  before: readonly Condition[] | undefined,
  record: MigrationRecord,
  clock: Pick<Clock, 'now'>,
): Condition[] {
  const { step = 'Provision', outcome, completedAt, message = '' } = record;
  const current = migrationSteps.indexOf(step);
  const conditions = migrationSteps.flatMap((type, index): NewCondition[] => {
    const known = before?.some((one) => one.type === type) ?? false;
    if (completedAt !== undefined && index === current) return [{ type, status: true, reason: 'Complete' }];
    if (outcome === 'Aborted') return abortedCondition(type, index, { before, current, message });
    if (index < current) return [{ type, status: true, reason: 'Complete' }];
    if (index === current) return [{ type, status: false, reason: 'InProgress', message }];
    return known ? [{ type, status: false, reason: 'Repeated', message: 'an earlier step is repeated' }] : [];
  });
  return setConditions(before as Condition[] | undefined, conditions, clock);
}

function abortedCondition(
  type: MigrationStep,
  index: number,
  given: { readonly before: readonly Condition[] | undefined; readonly current: number; readonly message: string },
): NewCondition[] {
  const { before, current, message } = given;
  if (index === current) return [{ type, status: false, reason: 'InProgress', message: 'the copy is deleted' }];
  const there = before?.find((one) => one.type === type);
  return there && there.status !== 'True' ? [{ type, status: false, reason: 'Aborted', message }] : [];
}
