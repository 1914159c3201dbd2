/**
 * Deletes a control plane, in this order: deletes or stops its HostedControlPlane and waits for it; deletes the tenant, by its policy; deletes its objects in the management
 * plane; removes the finalizer. Each step is idempotent. While one of them fails the finalizer stays, and the status says why.
 *
 * Nothing is left to a garbage collector: not every management plane has one, and none is fast.
 */

import { find } from '@hangar/client';
import { asError, hasCode } from '@hangar/core';
import { dropFinalizer, hasFinalizer, setConditions } from '@hangar/runtime';
import type { Result } from '@hangar/runtime';
import { ControlPlane, finalizer } from '../api/index.ts';
import type { ControlPlaneStatus, DeletionPolicy } from '../api/index.ts';
import { deletedEvent } from '../control-plane/events.ts';
import { activeRecord } from '../migration/record.ts';
import { bounded, sayStatus } from '../control-plane/status.ts';
import type { Pass } from '../control-plane/world.ts';
import { endHosted } from './hosted.ts';
import { endLeftovers } from './leftovers.ts';
import { endTenant } from './tenant.ts';

const migrationLookMs = 1_000;

export async function deletion(pass: Pass): Promise<Result | void> {
  const { controlPlane, client, apiReader, world, signal } = pass;
  if (!hasFinalizer(controlPlane, finalizer)) return;
  const active = world.migration && activeRecord(controlPlane);
  if (active) {
    const message = `waiting for the migration from ${active.from} to ${active.to}, which ${active.outcome === 'Switched' ? 'completes' : 'is aborted'} first`;
    await sayStatus(pass, statusOf(pass, 'MigrationInProgress', message));
    return { requeueAfterMs: migrationLookMs };
  }
  let policy: DeletionPolicy | undefined;
  try {
    const hosted = await endHosted(pass);
    if (typeof hosted === 'object') {
      await sayStatus(pass, statusOf(pass, hosted.reason, hosted.message));
      return { requeueAfterMs: hosted.lookAgainMs };
    }
    const ofHosted = { none: undefined, deleted: 'Destroy', retained: 'Retain' } as const;
    policy = (await endTenant(pass)) ?? ofHosted[hosted];
    await endLeftovers(pass);
  } catch (error) {
    if (hasCode(error, 'Conflict') || signal.aborted) throw error;
    const { message } = asError(error);
    await sayStatus(pass, statusOf(pass, 'DeletionDelayed', `deletion failed, retrying: ${message}`));
    throw error;
  }
  world.drift.forget(pass.path);
  world.addonResync.forget(controlPlane.metadata.name!);
  await sayStatus(pass, statusOf(pass, 'Deleting', 'all resources of the control plane are deleted'));
  // Others may have their own finalizers, and may have changed them meanwhile.
  const last = await find(apiReader, ControlPlane, { name: controlPlane.metadata.name! }, { signal });
  if (last?.metadata.uid !== controlPlane.metadata.uid) return;
  await world.writes.make('finalizer-drop', () => dropFinalizer(client, ControlPlane, last!, finalizer, { signal }));
  world.events.event(controlPlane, deletedEvent(policy));
}

function statusOf({ controlPlane, world }: Pass, reason: string, message: string): ControlPlaneStatus {
  const { status = {}, metadata } = controlPlane;
  const observedGeneration = metadata.generation ?? 0;
  const said = { status: false, reason, message: bounded(message), observedGeneration };
  const conditions = ['Programmed', 'Ready'].map((type) => ({ ...said, type }));
  return {
    ...status,
    phase: 'Deleting',
    observedGeneration,
    conditions: setConditions(status.conditions, conditions, world.clock),
  };
}
