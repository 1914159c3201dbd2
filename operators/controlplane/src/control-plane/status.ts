/**
 * Converts the result of a pass to a status. Accepted → Programmed → Ready: a false condition makes the later ones false for the same
 * reason.
 * The phase summarises them for users.
 *
 * A control plane that was ready stays ready while something new cannot be set up yet: Ready stays true while only Programmed is false.
 * Problems of the spec itself count at once.
 */

import { changedFields, isConditionTrue, removeCondition, setConditions, writeStatus } from '@hangar/runtime';
import type { NewCondition } from '@hangar/runtime';
import { ControlPlane } from '../api/index.ts';
import type { Condition, ControlPlanePhase, ControlPlaneStatus } from '../api/index.ts';
import { addressList } from '../endpoint/resolve.ts';
import { replacing } from '../migration/plane-records.ts';
import { activeRecord, isSwitched } from '../migration/record.ts';
import { joinPlace } from './nodes.ts';
import { suspendedReasons } from './suspended.ts';
import { eventsBetween } from './events.ts';
import type { Pass, Verdict } from './world.ts';

/** No verdict: everything is done. */
export function statusAfter(pass: Pass, verdict: Verdict | undefined): ControlPlaneStatus {
  const { controlPlane, addresses, kubeconfigSecretRef, remarks, withdrawn, world } = pass;
  const { status: before = {}, metadata } = controlPlane;
  const observedGeneration = metadata.generation ?? 0;
  const wasReady = isConditionTrue(before.conditions, 'Ready');
  const said = [...conditionsAfter(verdict, wasReady), ...remarks];
  const conditions = said.map((one) => ({ ...one, message: bounded(one.message), observedGeneration }));
  // A pass that ended earlier leaves the other conditions unchanged.
  const known = withdrawn.reduce<Condition[] | undefined>(removed, before.conditions);
  return {
    ...before,
    // The status and the kubeconfigs have the same addresses: both change together.
    ...(kubeconfigSecretRef && addresses
      ? {
          endpoint: addresses.internal,
          endpoints: addressList({ ...addresses, join: joinPlace(pass).server }),
          kubeconfigSecretRef,
        }
      : {}),
    ...(pass.migration ? { migration: replacing(before.migration, pass.migration) } : {}),
    phase: phaseAfter(pass, verdict, wasReady),
    observedGeneration,
    conditions: setConditions(known, conditions, world.clock),
  };
}

const messageMax = 1_024;

/** Truncates messages of others, perhaps of a tenant's webhook: a status that is too long would be refused. */
export const bounded = (message = ''): string =>
  message.length <= messageMax ? message : `${message.slice(0, messageMax - 1)}…`;

const removed = (all: Condition[] | undefined, type: string) => removeCondition(all, type);

function conditionsAfter(verdict: Verdict | undefined, wasReady: boolean): NewCondition[] {
  const done = (type: string): NewCondition => ({ type, status: true, reason: 'Reconciled' });
  if (!verdict) return [done('Accepted'), done('Programmed'), done('Ready')];
  const { type, reason, message } = verdict;
  const refused = (one: string): NewCondition => ({ type: one, status: false, reason, message });
  if (type === 'Accepted') return [refused('Accepted'), refused('Programmed'), refused('Ready')];
  if (type === 'Ready') return [done('Accepted'), done('Programmed'), refused('Ready')];
  return [done('Accepted'), refused('Programmed'), ...(wasReady ? [] : [refused('Ready')])];
}

function phaseAfter(pass: Pass, verdict: Verdict | undefined, wasReady: boolean): ControlPlanePhase {
  const record = pass.migration ?? activeRecord(pass.controlPlane);
  const isMigrating = record !== undefined && !isSwitched(record);
  if (!verdict) return isMigrating ? 'Migrating' : 'Ready';
  if (verdict.type === 'Accepted') return 'Failed';
  if (suspendedReasons.has(verdict.reason)) return 'Suspended';
  if (verdict.type !== 'Programmed' || !wasReady) return 'Provisioning';
  return isMigrating ? 'Migrating' : 'Ready';
}

/** Writes once, and only on a difference. Rejects with `Conflict` after a concurrent write. */
export async function sayStatus(
  { controlPlane, client, world, signal }: Pass,
  status: ControlPlaneStatus,
): Promise<void> {
  if (!changedFields(controlPlane.status ?? {}, status)) return;
  await world.writes.make('status', () =>
    writeStatus(client, { kind: ControlPlane, object: controlPlane, status, signal }),
  );
  for (const event of eventsBetween(controlPlane.status, status)) world.events.event(controlPlane, event);
}
