/**
 * Determines which mode serves a control plane: the record of its last migration says it, else the mode that it was created with. A moved
 * control plane has a HostedControlPlane, and a tenant that passes requests on to it.
 */

import { find } from '@hangar/client';
import { findCondition } from '@hangar/runtime';
import type { ControlPlane, ControlPlaneMode } from '../api/index.ts';
import { isClaimedBy } from '../control-plane/claim.ts';
import type { Pass } from '../control-plane/world.ts';
import { HostedControlPlane } from '../dedicated/hosted-control-plane.ts';
import { isRecordedDedicated } from '../dedicated/recorded-mode.ts';
import { Tenant } from '../host/index.ts';
import { recordOf, servingMode } from './record.ts';

export interface CurrentMode {
  readonly mode: ControlPlaneMode;
  readonly isMoved: boolean;
}

export async function currentMode(pass: Pass): Promise<CurrentMode> {
  const mode = await modeOf(pass);
  return { mode, isMoved: mode === 'Dedicated' && (await hasTenant(pass, pass.world.tenants.client)) };
}

async function modeOf(pass: Pass): Promise<ControlPlaneMode> {
  const { controlPlane, world } = pass;
  if (recordOf(controlPlane)) return servingMode(controlPlane);
  const wanted = controlPlane.spec?.mode ?? 'Virtual';
  if (await isRecordedDedicated(pass))
    return wanted === 'Dedicated' || (await hasHosted(pass)) ? 'Dedicated' : 'Virtual';
  return wanted === 'Dedicated' && (await hasTenant(pass, world.host.client)) ? 'Virtual' : wanted;
}

async function hasTenant(
  { path, controlPlane, signal }: Pass,
  reader: Pass['world']['host']['client'],
): Promise<boolean> {
  const tenant = await find(reader, Tenant, { name: path }, { signal });
  return tenant !== undefined && isClaimedBy(tenant, controlPlane);
}

async function hasHosted({ apiReader, namespace, controlPlane, signal }: Pass): Promise<boolean> {
  const name = controlPlane.metadata.name!;
  return (await find(apiReader, HostedControlPlane, { namespace, name }, { signal })) !== undefined;
}

/**
 * Reports whether a HostedControlPlane serves the control plane, from its object alone. A mode that was just changed has no effect before the
 * migration starts.
 */
export function isServedDedicated(controlPlane: Pick<ControlPlane, 'spec' | 'status'>): boolean {
  const { status } = controlPlane;
  if (servingMode(controlPlane) !== 'Dedicated') return false;
  const isNew = status?.kubeconfigSecretRef === undefined;
  return recordOf(controlPlane) !== undefined || isNew || findCondition(status.conditions, hostedReady) !== undefined;
}

/** Condition of control planes that a HostedControlPlane serves. */
export const hostedReady: string = 'HostedControlPlaneReady';
