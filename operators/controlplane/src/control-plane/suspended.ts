/** A suspended tenant is left alone: what is there stays, and what is not yet there waits. */

import { Tenant } from '../host/index.ts';
import type { Pass, Verdict } from './world.ts';

/** The reason of the condition that a suspended control plane does not fulfil. */
export const suspendedReason = 'Suspended';

export function suspended({ tenant, controlPlane, path }: Pass): Verdict | undefined {
  const how = tenant!.spec?.suspension;
  if (how === undefined) return undefined;
  // What was set up is still there; only it is not to be used.
  const type = controlPlane.status?.kubeconfigSecretRef === undefined ? 'Programmed' : 'Ready';
  const answers = how === 'ReadOnly' ? 'it answers reads only' : 'it answers nothing';
  return {
    type,
    reason: suspendedReason,
    message: `the control plane is suspended, ${answers}: remove spec.suspension of ${Tenant.kind} ${path} to resume it`,
  };
}
