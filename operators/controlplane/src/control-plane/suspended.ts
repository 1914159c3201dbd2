/** A suspended tenant is not changed: existing objects stay, and missing ones wait. */

import { Tenant } from '../host/index.ts';
import type { Pass, Verdict } from './world.ts';

/** Reasons of the condition that a suspended control plane does not fulfil. */
export const suspendedReasons: ReadonlySet<string> = new Set(['Suspended', 'Quarantined']);

export function suspended({ tenant, controlPlane, path }: Pass): Verdict | undefined {
  const how = tenant!.spec?.suspension;
  const quarantine = tenant!.status?.quarantine;
  if (how === undefined && quarantine === undefined) return undefined;
  // Everything is still set up, but must not be used.
  const type = controlPlane.status?.kubeconfigSecretRef === undefined ? 'Programmed' : 'Ready';
  if (how === undefined) {
    const { reason, message, until } = quarantine!;
    const ending = `the quarantine ends at ${until}, or when status.quarantine of ${Tenant.kind} "${path}" is removed`;
    return {
      type,
      reason: 'Quarantined',
      message: `the server suspended the control plane (${reason}): ${message}; ${ending}`,
    };
  }
  const answers = how === 'ReadOnly' ? 'and answers only reads' : 'and answers no requests';
  return {
    type,
    reason: 'Suspended',
    message: `the control plane is suspended ${answers}: remove spec.suspension of ${Tenant.kind} "${path}" to resume it`,
  };
}
