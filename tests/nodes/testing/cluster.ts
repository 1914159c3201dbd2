/** A control plane with nodes, as the cases use it. */

import type { Kubectl } from './kubectl.ts';
import type { Node } from '@hangar/cli/machine';
import type { NodePlane } from '../control-planes/node-plane.ts';

export interface NodeCluster {
  readonly plane: NodePlane;
  /** Of the administrator. */
  readonly kubectl: Kubectl;
  /** `node-a` and `node-b`. */
  readonly nodes: readonly [Node, Node];
}

/** Cases are declared before the cluster is started. */
export type ClusterOf = () => NodeCluster;
