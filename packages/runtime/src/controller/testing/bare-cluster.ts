/** An unreachable cluster, for controllers that are only triggered. */

import { ClientError, RestClient } from '@hangar/client';
import type { HttpTransport } from '@hangar/client';
import type { Clock } from '@hangar/core';
import type { Cluster, ClusterName } from '../../cluster.ts';
import { newCluster } from '../../new-cluster.ts';

const unreachable: HttpTransport = {
  request: () => Promise.reject(new ClientError('ConnectionFailed', 'nobody is there')),
  close: () => Promise.resolve(),
};

export const bareCluster = (name: ClusterName, clock?: Clock): Cluster =>
  newCluster({ name, client: new RestClient(unreachable), clock });
