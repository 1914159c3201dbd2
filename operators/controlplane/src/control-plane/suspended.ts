/** A suspended control plane is not changed: existing objects stay, and missing ones wait. */

import type { Pass, Verdict } from './world.ts';

/** Reasons of the condition that a suspended control plane does not fulfil. */
export const suspendedReasons: ReadonlySet<string> = new Set(['Suspended', 'Quarantined']);

export function suspended({ plane, controlPlane }: Pass): Verdict | undefined {
  const { suspension } = plane!;
  if (!suspension) return undefined;
  // Everything is still set up, but must not be used.
  const type = controlPlane.status?.kubeconfigSecretRef === undefined ? 'Programmed' : 'Ready';
  return { type, ...suspension };
}
