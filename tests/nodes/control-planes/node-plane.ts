/** A control plane that nodes join: Hangar's or the real one. */

import type { Membership } from '../machine/node.ts';

export interface NodePlane extends Membership {
  readonly name: string;
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
}
