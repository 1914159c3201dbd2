/**
 * Step 1 of mode Dedicated: whether the spec is possible at all. Nothing is written before this: an impossible control plane leaves no
 * trace.
 */

import { find } from '@hangar/client';
import { isClaimedBy } from '../control-plane/claim.ts';
import type { Pass, Verdict } from '../control-plane/world.ts';
import { Tenant } from '../host/index.ts';
import { hostedNameLengthMax } from './hosted-control-plane.ts';

const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const notServedLookMs = 30_000;

export async function acceptableDedicated({ controlPlane, path, world, signal }: Pass): Promise<Verdict | undefined> {
  const name = controlPlane.metadata.name!;
  if (name.length > hostedNameLengthMax || !label.test(name)) {
    return refused(
      'InvalidName',
      `invalid name "${name}": a control plane with mode Dedicated must have a DNS label of at most ${hostedNameLengthMax} characters as name`,
    );
  }
  const tenant = await find(world.tenants.client, Tenant, { name: path }, { signal });
  if (tenant && isClaimedBy(tenant, controlPlane)) return modeChange('Virtual', 'Dedicated');
  if (await world.hosted.isServed(signal)) return undefined;
  const message =
    'the management plane does not serve HostedControlPlanes, which mode Dedicated requires: start Hangar with "hangar up --hosted", or install the operator of hosted control planes';
  return { ...refused('DedicatedNotAvailable', message), lookAgainMs: notServedLookMs };
}

export const modeChange = (from: string, to: string): Verdict =>
  refused(
    'ModeChangeNotSupported',
    `the mode of an existing control plane cannot change from ${from} to ${to}: set spec.mode to ${from}, or create another control plane`,
  );

const refused = (reason: string, message: string): Verdict => ({ type: 'Accepted', reason, message });
