/** Settings for nodes of a control plane: its own, else those of its class. */

import type { NodesSpec } from '../api/index.ts';
import type { Pass } from './world.ts';

/** Returns the value of `spec.nodes` of the Tenant. Undefined: nodes cannot join. */
export function nodesOf({ controlPlane, class: ofClass }: Pick<Pass, 'controlPlane' | 'class'>): NodesSpec | undefined {
  const { enabled, networks } = { ...ofClass?.spec?.nodes, ...controlPlane.spec?.virtual?.nodes };
  if (!enabled) return undefined;
  return { enabled, ...(networks && networks.length > 0 ? { networks } : {}) };
}
