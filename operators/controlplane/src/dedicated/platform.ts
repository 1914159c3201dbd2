/** The settings of the platform for dedicated control planes. */

import { release } from '@hangar/api';
import { connect } from '@hangar/client';
import type { Client, ClusterConfig } from '@hangar/client';

export interface DedicatedPlatform {
  /** Kubernetes version of control planes that set none. */
  version(): string | Promise<string>;
  /** Number of API servers of control planes that set none. Absent: the default of HostedControlPlanes. */
  readonly replicas?: number | undefined;
  /** Interval in which addons inside are applied again. Absent: ten minutes. */
  readonly addonResyncMs?: number | undefined;
  /** Opens an administrator's client, which the caller closes. */
  connect(config: ClusterConfig): Promise<Client>;
}

export const dedicatedPlatform = (given: Partial<DedicatedPlatform> = {}): DedicatedPlatform => ({
  version: () => `v${release}`,
  connect: (config) => Promise.resolve(connect(config)),
  ...given,
});
