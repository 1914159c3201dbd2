/**
 * Step 6a of a control plane that was migrated to mode Dedicated: keeps its HostedControlPlane up to date. It is created and deleted by the
 * migration alone. Addresses, kubeconfig and content are those of the tenant, which passes requests on.
 */

import { findCondition, isBeingDeleted, isControlledBy } from '@hangar/runtime';
import type { Pass, Verdict } from '../control-plane/world.ts';
import { hostedReady } from '../migration/current-mode.ts';
import { activeRecord } from '../migration/record.ts';
import { applyWanted, unavailable } from './step.ts';

export async function movedHosted(pass: Pass): Promise<Verdict | undefined> {
  const { world, controlPlane, namespace, signal } = pass;
  const name = controlPlane.metadata.name!;
  await world.hosted.isServed(signal);
  const there = await world.hosted.find({ namespace, name }, signal);
  if (!there || !isControlledBy(there, controlPlane) || isBeingDeleted(there)) {
    const message = `HostedControlPlane "${namespace}/${name}" with the data of the control plane does not exist, or is being deleted: restore it from a backup`;
    pass.remarks.push({
      type: hostedReady,
      status: false,
      reason: 'HostedControlPlaneMissing',
      message,
      isAwaited: true,
    });
    return { type: 'Ready', reason: 'HostedControlPlaneMissing', message };
  }
  // Changes of the version and of other settings wait until the migration is complete.
  const current = activeRecord(controlPlane) ? there : await applyWanted(pass, there);
  if ('type' in current) return current;
  const { status, reason = 'Pending', message = '' } = findCondition(current.status?.conditions, 'Ready') ?? {};
  pass.remarks.push({ type: hostedReady, status: status === 'True', reason, message, isAwaited: true });
  pass.deferred ??= unavailable(current);
  return undefined;
}
