/** Bugs that the simulation must find, injected from outside. They prove that its checks can fail. Each breaks one rule of the protocol. */

import type { MigrationRecords } from '../driver.ts';
import { nextAction } from '../protocol.ts';
import type { Action, Observed } from '../protocol.ts';
import { defaultTimings } from '../timings.ts';
import type { MigrationTimings } from '../timings.ts';
import type { RecordStore, VersionedPlane } from './record-store.ts';

export interface PlantedBug {
  readonly name: string;
  /** A seed that finds the bug, if that took many: tried first. */
  readonly near?: number;
  readonly timings: MigrationTimings;
  readonly decide: (observed: Observed) => Action;
  records?(records: MigrationRecords<VersionedPlane>, store: RecordStore): MigrationRecords<VersionedPlane>;
}

export const noBug: PlantedBug = { name: 'none', timings: defaultTimings, decide: nextAction };

const bug = (name: string, changes: Partial<PlantedBug>): PlantedBug => ({ ...noBug, name, ...changes });

/** Replaces one decision. */
const instead =
  (replace: (action: Action, observed: Observed) => Action | undefined) =>
  (observed: Observed): Action => {
    const action = nextAction(observed);
    return replace(action, observed) ?? action;
  };

export const plantedBugs: readonly PlantedBug[] = [
  bug('switch-without-hold', {
    decide: instead((action, { record }) =>
      action.type === 'Hold' && record.outcome === undefined && record.to === 'Dedicated'
        ? { type: 'RecordSwitched', revision: 0 }
        : undefined,
    ),
  }),
  bug('last-changes-are-not-awaited', {
    decide: instead((action, { tenant, dedicated }) =>
      action.type === 'Wait' &&
      action.step === 'Switch' &&
      'serving' in tenant &&
      tenant.heldAt !== undefined &&
      dedicated.phase === 'Fenced'
        ? { type: 'RecordSwitched', revision: tenant.received?.revision ?? tenant.heldAt }
        : undefined,
    ),
  }),
  bug('activated-before-the-record', {
    decide: instead((action, { record }) =>
      action.type === 'RecordSwitched' && record.to === 'Dedicated' ? { type: 'Activate' } : undefined,
    ),
  }),
  bug('hold-is-released-after-the-switch', {
    decide: instead((action) => (action.type === 'PassTo' ? { type: 'Release', id: 'm' } : undefined)),
  }),
  bug('fence-is-skipped', {
    decide: (observed) =>
      observed.record.to === 'Virtual' &&
      observed.dedicated.phase === 'Active' &&
      observed.record.attemptStartedAt !== undefined
        ? nextAction({ ...observed, dedicated: { ...observed.dedicated, phase: 'Fenced' } })
        : nextAction(observed),
  }),
  bug('attempts-follow-at-once', { timings: { ...defaultTimings, settleMs: 100 } }),
  bug('attempts-have-no-limit', { decide: (observed) => nextAction({ ...observed, pauseMsMax: Infinity }) }),
  bug('abort-after-the-switch', {
    decide: (observed) => {
      const { record, wanted } = observed;
      if (record.outcome !== 'Switched' || wanted === record.to) return nextAction(observed);
      const { outcome: _, ...undecided } = record;
      return nextAction({ ...observed, record: undecided });
    },
  }),
  bug('record-without-precondition', {
    near: 633,
    records: (records, store) => ({
      ...records,
      write: (plane, record, signal) =>
        records.write({ ...plane, resourceVersion: store.plane.resourceVersion }, record, signal),
    }),
  }),
  bug('fence-is-kept-after-an-abort', {
    near: 397,
    decide: instead((action, { record }) =>
      action.type === 'Activate' && record.outcome === 'Aborted'
        ? { type: 'Complete', deletesTenantData: false }
        : undefined,
    ),
  }),
];
