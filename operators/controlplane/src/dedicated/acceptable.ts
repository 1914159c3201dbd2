/**
 * Step 1 of mode Dedicated: whether the spec is possible at all. Nothing is written before this: an impossible control plane leaves no
 * trace.
 */

import type { Pass, Verdict } from '../control-plane/world.ts';
import { hostedNameLengthMax } from './hosted-control-plane.ts';

const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const notServedLookMs = 30_000;

export async function acceptableDedicated({ controlPlane, world, signal }: Pass): Promise<Verdict | undefined> {
  const name = controlPlane.metadata.name!;
  if (name.length > hostedNameLengthMax || !label.test(name)) {
    return refused(
      'InvalidName',
      `invalid name "${name}": a control plane with mode Dedicated must have a DNS label of at most ${hostedNameLengthMax} characters as name`,
    );
  }
  if (await world.hosted.isServed(signal)) return undefined;
  const message =
    'the management plane does not serve HostedControlPlanes, which mode Dedicated requires: start Hangar with "hangar up --hosted", or install the operator of hosted control planes';
  return { ...refused('DedicatedNotAvailable', message), lookAgainMs: notServedLookMs };
}

const refused = (reason: string, message: string): Verdict => ({ type: 'Accepted', reason, message });
