import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import type { Revision } from '@hangar/store';
import type { DedicatedReplicaState, TenantReplicaState } from './contract.ts';
import { nextAction } from './protocol.ts';
import type { Observed } from './protocol.ts';
import { startedRecord, withAttempt, withOutcome, withoutAttempt } from './record.ts';
import type { MigrationRecord } from './record.ts';
import { defaultTimings as timings } from './timings.ts';

const nowMs = Date.UTC(2026, 0, 1);
const { settleMs, passMsMax } = timings;
const [id, at, remote] = ['m1', 100 as Revision, { server: 'https://a', ca: '' }];

const started = (from: 'Virtual' | 'Dedicated'): MigrationRecord =>
  startedRecord({ id, from }, nowMs - settleMs, timings);
const toDedicated = started('Virtual');
const toVirtual = started('Dedicated');
const attempted = (record: MigrationRecord): MigrationRecord => withAttempt(record, nowMs - 100);
const ended = (record: MigrationRecord, agoMs: number): MigrationRecord =>
  withoutAttempt(attempted(record), { nowMs: nowMs - agoMs, message: 'too slow', retryMs: settleMs });
const decided = (record: MigrationRecord, outcome: 'Switched' | 'Aborted', agoMs = 0): MigrationRecord =>
  withOutcome(attempted(record), { outcome, nowMs: nowMs - agoMs, revision: at, message: '' }, timings);
const served = (record: MigrationRecord): MigrationRecord => ({ ...record, step: 'Registrations' });

const local: TenantReplicaState = { serving: 'Local' };
const localHeld: TenantReplicaState = { serving: 'Local', heldBy: id, heldAt: at };
const received = { by: id, revision: at };
const passing: TenantReplicaState = { serving: 'Remote' };
const receiving: TenantReplicaState = { serving: 'Remote', received };
const receivingHeld: TenantReplicaState = { serving: 'Remote', received, heldBy: id, heldAt: at };
const unknown = { phase: 'Unknown', message: 'timed out' } as const;
const absent: DedicatedReplicaState = { phase: 'Absent', message: 'absent' };
const fenced: DedicatedReplicaState = { phase: 'Fenced', message: '', remote, revision: at };
const behind: DedicatedReplicaState = { ...fenced, revision: 99 as Revision };
const active: DedicatedReplicaState = { ...fenced, phase: 'Active' };

const copied = { isRunning: true, position: 100, sourceRevision: 100 };
const equal = { attempt: 1, revision: 100, isEqual: true, objects: 3, tookMs: 10, failures: 0 };
const verified = { ...equal, attempt: undefined };

interface Case extends Partial<Observed> {
  readonly title: string;
  readonly record: MigrationRecord;
  readonly is: string;
}

const cases: readonly Case[] = [
  {
    title: 'a new migration starts the copy',
    record: toDedicated,
    tenant: local,
    dedicated: absent,
    copy: { isRunning: false },
    is: 'Copy',
  },
  {
    title: 'a side that is being created is waited for',
    record: toDedicated,
    tenant: local,
    dedicated: absent,
    is: 'Wait',
  },
  {
    title: 'a copy that is far behind is waited for',
    record: toDedicated,
    tenant: local,
    dedicated: fenced,
    copy: { ...copied, sourceRevision: 5_000 },
    is: 'Wait',
  },
  {
    title: 'both sides are compared before an attempt',
    record: toDedicated,
    tenant: local,
    dedicated: fenced,
    comparison: undefined,
    is: 'Compare',
  },
  {
    title: 'an attempt follows the comparison',
    record: toDedicated,
    tenant: local,
    dedicated: fenced,
    comparison: verified,
    is: 'StartAttempt',
  },
  {
    title: 'no attempt starts before late calls have taken effect',
    record: startedRecord({ id, from: 'Virtual' }, nowMs - settleMs + 1, timings),
    tenant: local,
    dedicated: fenced,
    comparison: verified,
    is: 'Wait',
  },
  {
    title: 'differences before an attempt delay it',
    record: toDedicated,
    tenant: local,
    dedicated: fenced,
    comparison: { ...verified, isEqual: false, failures: 1 },
    is: 'EndAttempt',
  },
  {
    title: 'repeated differences end the migration',
    record: toDedicated,
    tenant: local,
    dedicated: fenced,
    comparison: { ...verified, isEqual: false, failures: 3 },
    is: 'RecordAborted',
  },
  {
    title: 'a lost history ends the migration',
    record: toDedicated,
    tenant: local,
    dedicated: fenced,
    copy: { ...copied, isLost: true },
    is: 'RecordAborted',
  },
  {
    title: 'an attempt holds the tenant first',
    record: attempted(toDedicated),
    tenant: local,
    dedicated: fenced,
    is: 'Hold',
  },
  {
    title: 'the last changes are awaited',
    record: attempted(toDedicated),
    tenant: localHeld,
    dedicated: behind,
    is: 'Wait',
  },
  {
    title: 'both sides are compared at the hold',
    record: attempted(toDedicated),
    tenant: localHeld,
    dedicated: fenced,
    comparison: verified,
    is: 'Compare',
  },
  {
    title: 'the switch is recorded when both sides are equal',
    record: attempted(toDedicated),
    tenant: localHeld,
    dedicated: fenced,
    is: 'RecordSwitched',
  },
  {
    title: 'a comparison that takes too long for the pause is not repeated in it',
    record: attempted(toDedicated),
    tenant: localHeld,
    dedicated: fenced,
    comparison: { ...verified, tookMs: 4_000 },
    is: 'RecordSwitched',
  },
  {
    title: 'differences at the hold end the attempt',
    record: attempted(toDedicated),
    tenant: localHeld,
    dedicated: fenced,
    comparison: { ...equal, isEqual: false, failures: 1 },
    is: 'EndAttempt',
  },
  {
    title: 'an attempt has a time limit',
    record: withAttempt(toDedicated, nowMs - 5_000),
    tenant: localHeld,
    dedicated: behind,
    is: 'EndAttempt',
  },
  {
    title: 'an attempt ends also when a side does not answer',
    record: withAttempt(toDedicated, nowMs - 5_000),
    tenant: unknown,
    dedicated: unknown,
    is: 'EndAttempt',
  },
  {
    title: 'the hold of an ended attempt is released',
    record: ended(toDedicated, 1),
    tenant: localHeld,
    dedicated: fenced,
    is: 'Release',
  },
  {
    title: 'also when the dedicated side does not answer',
    record: ended(toDedicated, 1),
    tenant: localHeld,
    dedicated: unknown,
    is: 'Release',
  },
  {
    title: 'a late release needs a new record',
    record: ended(toDedicated, passMsMax),
    tenant: localHeld,
    dedicated: fenced,
    is: 'EndAttempt',
  },
  {
    title: 'the mode set back aborts',
    record: attempted(toDedicated),
    tenant: localHeld,
    dedicated: fenced,
    wanted: 'Virtual',
    is: 'RecordAborted',
  },
  {
    title: 'an abort releases the hold',
    record: decided(toDedicated, 'Aborted'),
    tenant: localHeld,
    dedicated: fenced,
    is: 'Release',
  },
  {
    title: 'an abort waits for late calls',
    record: decided(toDedicated, 'Aborted'),
    tenant: local,
    dedicated: fenced,
    is: 'Wait',
  },
  {
    title: 'then it deletes the copy',
    record: decided(toDedicated, 'Aborted', settleMs),
    tenant: local,
    dedicated: fenced,
    is: 'DeleteDedicated',
  },
  {
    title: 'and is complete',
    record: decided(toDedicated, 'Aborted', settleMs),
    tenant: local,
    dedicated: absent,
    isDedicatedThere: false,
    is: 'Complete',
  },
  {
    title: 'after the record, the dedicated side becomes writable',
    record: decided(toDedicated, 'Switched'),
    tenant: localHeld,
    dedicated: fenced,
    is: 'Activate',
  },
  {
    title: 'then the tenant passes requests on',
    record: decided(toDedicated, 'Switched'),
    tenant: localHeld,
    dedicated: active,
    is: 'PassTo',
  },
  {
    title: 'then the pause is recorded',
    record: decided(toDedicated, 'Switched'),
    tenant: passing,
    dedicated: active,
    is: 'RecordServed',
  },
  {
    title: 'a hold that took effect late is released',
    record: decided(toDedicated, 'Switched'),
    tenant: { ...passing, heldBy: id },
    dedicated: active,
    is: 'Release',
  },
  {
    title: 'the old data is kept during the grace period',
    record: served(decided(toDedicated, 'Switched', 59_000)),
    tenant: passing,
    dedicated: active,
    is: 'Wait',
  },
  {
    title: 'and deleted after it',
    record: served(decided(toDedicated, 'Switched', 60_000)),
    tenant: passing,
    dedicated: active,
    is: 'Complete',
  },
  {
    title: 'the mode set back after the switch ends the grace period',
    record: served(decided(toDedicated, 'Switched', settleMs)),
    tenant: passing,
    dedicated: active,
    wanted: 'Virtual',
    is: 'Complete',
  },
  {
    title: 'the way back holds the tenant',
    record: attempted(toVirtual),
    tenant: receiving,
    dedicated: active,
    is: 'Hold',
  },
  {
    title: 'then fences the dedicated side',
    record: attempted(toVirtual),
    tenant: receivingHeld,
    dedicated: active,
    is: 'Fence',
  },
  {
    title: 'then awaits the last changes',
    record: attempted(toVirtual),
    tenant: receivingHeld,
    dedicated: { ...fenced, revision: 101 as Revision },
    is: 'Wait',
  },
  {
    title: 'then records the switch',
    record: attempted(toVirtual),
    tenant: receivingHeld,
    dedicated: fenced,
    is: 'RecordSwitched',
  },
  {
    title: 'then serves the received data',
    record: decided(toVirtual, 'Switched'),
    tenant: receivingHeld,
    dedicated: fenced,
    is: 'ServeReceived',
  },
  {
    title: 'an ended attempt of the way back removes the fence before the hold',
    record: ended(toVirtual, 1),
    tenant: receivingHeld,
    dedicated: fenced,
    is: 'Activate',
  },
  { title: 'then the hold', record: ended(toVirtual, 1), tenant: receivingHeld, dedicated: active, is: 'Release' },
  {
    title: 'after the way back, the HostedControlPlane is deleted',
    record: served(decided(toVirtual, 'Switched', 60_000)),
    tenant: local,
    dedicated: fenced,
    is: 'DeleteDedicated',
  },
  {
    title: 'a dedicated side that is writable after the way back is fenced again',
    record: decided(toVirtual, 'Switched'),
    tenant: receivingHeld,
    dedicated: active,
    is: 'Fence',
  },
];

describe('the next action of a migration', () => {
  for (const { title, is, ...given } of cases) {
    test(title, () => {
      const { to } = given.record;
      const observed: Observed = {
        nowMs,
        wanted: to,
        tenant: local,
        dedicated: absent,
        isDedicatedThere: true,
        copy: copied,
        comparison: equal,
        pauseMsMax: 5_000,
        gracePeriodMs: 60_000,
        timings,
        ...given,
      };
      assert.equal(nextAction(observed).type, is);
    });
  }
});
