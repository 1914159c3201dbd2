/** A control plane that nodes join: Hangar's or the real one. */

import type { KeyPair } from '@hangar/pki';
import type { Membership } from '../machine/node.ts';

export interface NodePlane extends Membership {
  readonly name: string;
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** URL of the API server for nodes. */
  readonly server: string;
  /** The CA that signs the certificates of users and nodes. */
  readonly authority: KeyPair;
  /** The address of the cluster's DNS Service. */
  readonly dnsAddress: string;
}

/** The kubelet reports and the controllers expect signs of life more often than by default, so that a lost node is noticed soon. */
export const heartbeat = {
  kubelet: { nodeLeaseDurationSeconds: 12, nodeStatusUpdateFrequency: '4s' },
  controllerManager: ['--node-monitor-grace-period=20s', '--node-monitor-period=2s'],
};
