/** A control plane that nodes join: Hangar's or the real one. */

import type { KeyPair } from '@hangar/pki';
import type { Membership } from '@hangar/cli/machine';

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

/** Intervals in which kubelets report that they run, and in which the controllers expect it. */
export interface Heartbeat {
  /** Fields of the KubeletConfiguration. */
  readonly kubelet: object;
  /** Flags of kube-controller-manager. */
  readonly controllerManager: readonly string[];
}

export interface NodePlaneOptions {
  /** Absent: `shortHeartbeat`. */
  readonly heartbeat?: Heartbeat;
}

/** The intervals of Kubernetes, for a machine that is busy for minutes. */
export const defaultHeartbeat: Heartbeat = { kubelet: {}, controllerManager: [] };

/** Shorter intervals than by default, so that a lost node is noticed soon. */
export const shortHeartbeat: Heartbeat = {
  kubelet: { nodeLeaseDurationSeconds: 12, nodeStatusUpdateFrequency: '4s' },
  controllerManager: ['--node-monitor-grace-period=20s', '--node-monitor-period=2s'],
};
